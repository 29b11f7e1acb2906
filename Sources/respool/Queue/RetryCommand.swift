import JobSchema
import Jobs
import MediaTypes

extension Command {
    static let retry = Command(
        "retry", usages: ["ID…", "--group NAME", "--failed-with CODE", "--state STATE"],
        "runs failed or cancelled jobs again; exits with 1 if one cannot be retried",
        details: [
            "The job starts again, with all its attempts. With --group: all failed "
                + "jobs of the group. With --failed-with: all that failed with this code. "
                + "With --state: all that failed or were cancelled. --group restricts the last two."
        ],
        options: [.group, RetryOptions.code, RetryOptions.state, RetryOptions.set, .json, .queue, .redis],
        examples: [
            .init(line: "respool retry --failed-with source_unreachable", meaning: "after the host is reachable again"),
            .init(
                line: "respool retry --group nightly --set format=flac --set bit_rate=", meaning: "as FLAC"),
        ],
        operands: 0...Int.max
    ) { arguments throws(CommandFailure) in
        let code = try arguments.word(RetryOptions.code, of: ErrorCode.allCases.map(\.rawValue)).flatMap(ErrorCode.init)
        let changes = try RetryOptions.changes(arguments)
        let state = try arguments.word(RetryOptions.state, of: RetryOptions.states).flatMap(JobState.init)
        if state == .cancelled, code != nil {
            throw .usage("--failed-with and --state cancelled are mutually exclusive: give one")
        }
        let selection = try JobSelection(arguments, code: code, state: state)
        let report = JobActionReport(isJSON: arguments.has(.json))
        return try await selection.each(rank: state == .cancelled ? .cancelled : .failed) {
            connection, ids throws(CommandFailure) in
            let answers = try await connection.ask { queue throws(QueueError) in
                try await queue.retry(ids, changes: changes)
            }
            return report.show(ids, answers.map(JobActionResult.init))
        }
    }
}

enum RetryOptions {
    static let code = Option(
        "failed-with", value: "CODE", "all jobs that failed with this code: timeout, source_unreachable…",
        suggestion: .words(ErrorCode.allCases.map(\.rawValue)))
    static let states = [JobState.failed, .cancelled].map(\.rawValue)
    static let state = Option(
        "state", letter: "s", value: "STATE", "all jobs that are \(states.joined(separator: " or "))",
        suggestion: .words(states))
    static let set = Option(
        "set", value: "FIELD=VALUE", "changes a field of the jobs; without a value, removes it", isRepeatable: true)

    /// The fields to change.
    static func changes(_ arguments: Arguments) throws(CommandFailure) -> [String: String] {
        var changes: [String: String] = [:]
        for text in arguments.given(set) {
            let name = String(text.prefix { $0 != "=" })
            guard name.utf8.count < text.utf8.count else {
                throw .usage("--set is '\(text)': write a field and its value, such as format=wav")
            }
            let value = String(text.dropFirst(name.count + 1))
            // An unknown field can only be removed; the job may have been rejected because of it.
            guard JobField.named(name) != nil || value.isEmpty else {
                let hint = Spelling.hint(for: name, among: JobField.all.map(\.name))
                throw .usage("--set is '\(text)': there is no field `\(name)`\(hint)")
            }
            guard !JobQueue.unchangeable.contains(name) else {
                throw .usage("--set is '\(text)': a retry cannot change `\(name)`; enqueue the job again")
            }
            changes[name] = value
        }
        return changes
    }
}

extension JobActionResult {
    fileprivate init(_ answer: RetryAnswer) {
        switch answer {
        case .retried: self.init("retried", isGood: true)
        case .wrongState(let state):
            self.init(
                "wrong_state", "the job is \(state.rawValue); only failed and cancelled jobs can be retried",
                isGood: false
            )
        case .dedupHeld(let id): self.init("dedup_held", "job \(id) holds its dedup key", isGood: false)
        case .invalid(let failure): self.init("invalid", failure.message, isGood: false)
        case .unknown: self = .unknown
        }
    }
}
