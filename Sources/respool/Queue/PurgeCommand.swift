import Jobs

extension Command {
    static let purge = Command(
        "purge", usages: ["ID…", "FILTER… [--yes | --dry-run]"], "deletes jobs and prints their number",
        details: [
            "Their output files remain. Running jobs cannot be deleted: cancel them. With filters: all jobs that match all of "
                + "them, unless they are running. " + Consent.rule
        ],
        options: FilterOptions.all(states: PurgeOptions.states) + Consent.options + [.json, .queue, .redis],
        examples: [
            .init(line: "respool purge --state failed --yes", meaning: "all failed jobs"),
            .init(line: "respool purge --state completed --older-than 86400", meaning: "asks first"),
        ],
        operands: 0...Int.max
    ) { arguments throws(CommandFailure) in
        let filter = try FilterOptions.filter(arguments, states: PurgeOptions.states)
        let selection = try JobSelection(arguments, for: .delete, filter)
        let isJSON = arguments.has(.json)
        if !isJSON, let state = selection.wholeState {
            StandardStream.output("\(try await PurgeOptions.purge(state, selection.connection))\n")
            return .success
        }
        var count = 0
        let report = JobActionReport(isJSON: isJSON, isMessage: !isJSON)
        let status = try await selection.each { connection, ids throws(CommandFailure) in
            var results: [(id: String, result: JobActionResult)] = []
            for id in ids {
                let answer = try await connection.ask { queue throws(QueueError) in try await queue.remove(id) }
                if answer == .removed { count += 1 }
                // Only their number is printed.
                if isJSON || answer != .removed { results.append((id, JobActionResult(answer))) }
            }
            return report.show(results.map(\.id), results.map(\.result))
        }
        if !isJSON, !selection.isDryRun { StandardStream.output("\(count)\n") }
        return status
    }
}

enum PurgeOptions {
    static let states = JobState.allCases.filter { $0 != .running }

    /// Deletes all jobs in a state, and returns how many.
    fileprivate static func purge(_ state: JobState, _ connection: QueueConnection) async throws(CommandFailure) -> Int
    {
        var count = 0
        while true {
            let purged = try await connection.ask { queue throws(QueueError) in try await queue.purge(state) }
            count += purged
            if purged == 0 { return count }
        }
    }
}

extension JobActionResult {
    fileprivate init(_ answer: RemoveAnswer) {
        switch answer {
        case .removed: self.init("deleted", isGood: true)
        case .wrongState(.queued):
            self.init("wrong_state", "the job is behind many others in the inbox: repeat it later", isGood: false)
        case .wrongState(let state):
            self.init("wrong_state", "the job is \(state.rawValue): cancel it first", isGood: false)
        case .unknown: self = .unknown
        }
    }
}
