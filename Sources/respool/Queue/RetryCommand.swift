import JobSchema
import Jobs
import MediaTypes

extension Command {
    static let retry = Command(
        "retry", usages: ["ID…", "FILTER… [--yes | --dry-run]"],
        "runs failed or cancelled jobs again; exits with 1 if one cannot be retried",
        details: [
            "The job starts again, with all its attempts. With filters: all failed jobs that match all of them, or with "
                + "--state cancelled the cancelled ones. " + Consent.rule
        ],
        options: FilterOptions.all(states: RetryOptions.states) + Consent.options + [
            RetryOptions.set, .json, .queue, .redis,
        ],
        examples: [
            .init(
                line: "respool retry --code source_unreachable --yes", meaning: "after the host is reachable again"),
            .init(
                line: "respool retry --group nightly --set format=flac --set bit_rate= --yes", meaning: "as FLAC"),
        ],
        operands: 0...Int.max
    ) { arguments throws(CommandFailure) in
        let changes = try RetryOptions.changes(arguments)
        let filter = try FilterOptions.filter(arguments, states: RetryOptions.states)
        if filter.state == .cancelled, filter.code != nil {
            throw .usage("--code and --state cancelled are mutually exclusive: give one")
        }
        let selection = try JobSelection(arguments, for: .retry, filter, fallback: .failed)
        let report = JobActionReport(isJSON: arguments.has(.json))
        return try await selection.each { connection, ids throws(CommandFailure) in
            let answers = try await connection.ask { queue throws(QueueError) in
                try await queue.retry(ids, changes: changes)
            }
            return report.show(ids, answers.map(JobActionResult.init))
        }
    }
}

enum RetryOptions {
    static let states: [JobState] = [.failed, .cancelled]
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
        case .invalid(let failure):
            self.init("invalid", ([failure.message] + failure.otherFaults).joined(separator: "; "), isGood: false)
        case .unknown: self = .unknown
        }
    }
}
