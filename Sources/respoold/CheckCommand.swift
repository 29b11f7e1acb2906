import Worker

/// `respoold worker --check`: reports whether the workers on this machine are healthy.
enum CheckCommand {
    static func run() -> ExitCode {
        let check = HealthCheck()
        print(check.summary)
        return check.isHealthy ? .success : .failure
    }
}
