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
    var message: String
    /// Further lines.
    var details: [String] = []
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

    /// A job with wrong fields; the place is what names the job among others.
    static func usage(_ failure: Failure, of place: String? = nil) -> CommandFailure {
        var usage = CommandFailure.usage((place.map { "\($0): " } ?? "") + failure.message)
        usage.details = failure.otherFaults
        return usage
    }

    static func unreachable(_ message: String) -> CommandFailure {
        CommandFailure(status: .unreachable, message: message)
    }
}
