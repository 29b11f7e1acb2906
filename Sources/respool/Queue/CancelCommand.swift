import Jobs
import SlotProtocol

extension Command {
    static let cancel = Command(
        "cancel", usages: ["ID…"], "cancels jobs; ends with 1 if one is unknown or already over",
        details: ["A waiting job is cancelled at once, a running one within about a second, and leaves no output."],
        options: [.json, .queue, .redis], operands: 1...Int.max
    ) { arguments throws(CommandFailure) in
        try await Verdict.each(arguments) { queue, ids throws(QueueError) in
            try await queue.cancel(ids).map { answer in
                switch answer {
                case .cancelled: Verdict("cancelled", isGood: true)
                case .requested: Verdict("requested", "the job is running and ends with the next beat", isGood: true)
                case .tooLate(.running): Verdict("too_late", "its result is just being published", isGood: false)
                case .tooLate(let state): Verdict("too_late", "the job is \(state.rawValue)", isGood: false)
                case .unknown: .unknown
                }
            }
        }
    }

    static let retry = Command(
        "retry", usages: ["ID…"], "runs failed or cancelled jobs once more; ends with 1 if one cannot be",
        details: ["The job starts afresh, with all its tries."], options: [.json, .queue, .redis], operands: 1...Int.max
    ) { arguments throws(CommandFailure) in
        try await Verdict.each(arguments) { queue, ids throws(QueueError) in
            try await queue.retry(ids).map { answer in
                switch answer {
                case .retried: Verdict("retried", isGood: true)
                case .wrongState(let state):
                    Verdict(
                        "wrong_state", "the job is \(state.rawValue); only failed and cancelled ones are retried",
                        isGood: false)
                case .dedupHeld(let id): Verdict("dedup_held", "job \(id) has its dedup key", isGood: false)
                case .invalid(let failure): Verdict("invalid", failure.message, isGood: false)
                case .unknown: .unknown
                }
            }
        }
    }
}

/// What became of a wish about one job.
private struct Verdict: Sendable {
    let word: String
    let reason: String?
    let isGood: Bool

    static let unknown = Verdict("unknown", "there is no such job", isGood: false)

    init(_ word: String, _ reason: String? = nil, isGood: Bool) {
        self.word = word
        self.reason = reason
        self.isGood = isGood
    }

    /// A verdict as a program reads it.
    private struct Line: Encodable {
        let id: String
        let result: String
        @Nullable var reason: String?
    }

    /// Asks about all ids and prints a line for each; answers failure if one was refused.
    static func each(
        _ arguments: Arguments, _ ask: @Sendable (JobQueue, [String]) async throws(QueueError) -> [Verdict]
    ) async throws(CommandFailure) -> ExitStatus {
        let connection = try QueueConnection(arguments)
        var status = ExitStatus.success
        for part in arguments.operands.parts(of: 500) {
            let ids = Array(part)
            let verdicts = try await connection.ask { queue throws(QueueError) in try await ask(queue, ids) }
            for (id, verdict) in zip(ids, verdicts) {
                let reason = verdict.reason.map { ": \($0)" } ?? ""
                let text =
                    arguments.has(.json)
                    ? JSONLine.text(Line(id: id, result: verdict.word, reason: verdict.reason))
                    : TextLayout.printable("\(id) \(verdict.word.spaced)\(reason)")
                StandardStream.output(text + "\n")
                if !verdict.isGood { status = .failure }
            }
        }
        return status
    }
}

extension String {
    /// The word for people: `too late` instead of `too_late`.
    fileprivate var spaced: String { String(map { $0 == "_" ? " " : $0 }) }
}
