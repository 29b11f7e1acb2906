import JobSchema

/// How the program ends, as its caller reads it.
enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The job failed, or an id is unknown.
    case failure = 1
    /// Wrong usage.
    case usage = 2
    /// Redis cannot be reached.
    case unreachable = 3
}

/// Why a command ends without success: one sentence, and the exit status that goes with it.
struct CommandFailure: Error, Sendable {
    let status: ExitStatus
    /// Empty where there is nothing to say.
    let message: String
    /// A line of JSON for the program that asked for JSON.
    var report: String?

    static func failed(_ message: String) -> CommandFailure { CommandFailure(status: .failure, message: message) }

    /// A failed conversion or probe; with JSON its code and sentence go to standard output as well.
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
