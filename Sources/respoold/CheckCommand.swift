import Worker

/// `respoold worker --check`: whether the workers of this machine live.
enum CheckCommand {
    static func run() -> ExitCode {
        let check = HealthCheck()
        print(check.summary)
        return check.isHealthy ? .success : .failure
    }
}
