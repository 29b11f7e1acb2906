import JobSchema

/// The exit status of the program.
enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The job failed, or an id is unknown.
    case failure = 1
    /// Invalid usage.
    case usage = 2
    /// Redis cannot be reached.
    case unreachable = 3
}

/// The failure of a command: an error message, and the exit status.
struct CommandFailure: Error, Sendable {
    let status: ExitStatus
    /// Empty if nothing is to be printed.
    let message: String
    /// A line of JSON for standard output, if JSON was requested.
    var report: String?

    static func failed(_ message: String) -> CommandFailure { CommandFailure(status: .failure, message: message) }

    /// A failed conversion or probe. With JSON, its code and message are also written to standard output.
    static func failed(_ failure: Failure, source: String, isJSON: Bool) -> CommandFailure {
        let shown = SourceAddress.shown(source)
        var failed = CommandFailure.failed("\(shown): \(failure.message)")
        if isJSON { failed.report = JSONLine.text(FailureReport(source: shown, failure)) }
        return failed
    }

    static func usage(_ message: String) -> CommandFailure { CommandFailure(status: .usage, message: message) }

    static func unreachable(_ message: String) -> CommandFailure {
        CommandFailure(status: .unreachable, message: message)
    }
}
