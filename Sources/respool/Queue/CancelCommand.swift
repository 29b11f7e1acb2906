import Jobs

extension Command {
    static let cancel = Command(
        "cancel", usages: ["ID…", "FILTER… [--yes | --dry-run]"],
        "cancels jobs; exits with 1 if one is unknown or has already finished",
        details: [
            "A waiting job is cancelled immediately, a running one within about a "
                + "second, and leaves no output. With filters: all unfinished jobs that match all of them. "
                + Consent.rule
        ],
        options: FilterOptions.all(states: CancelOptions.states) + Consent.options + [.json, .queue, .redis],
        examples: [
            .init(line: "respool cancel --group nightly --yes", meaning: "all unfinished jobs of the group"),
            .init(line: "respool cancel --source https://old.example.org/ --dry-run", meaning: "counts them"),
        ],
        operands: 0...Int.max
    ) { arguments throws(CommandFailure) in
        let filter = try FilterOptions.filter(arguments, states: CancelOptions.states)
        let selection = try JobSelection(arguments, for: .cancel, filter)
        let report = JobActionReport(isJSON: arguments.has(.json))
        return try await selection.each { connection, ids throws(CommandFailure) in
            let answers = try await connection.ask { queue throws(QueueError) in try await queue.cancel(ids) }
            return report.show(ids, answers.map(JobActionResult.init))
        }
    }
}

enum CancelOptions {
    static let states = JobState.allCases.filter { !$0.isTerminal }
}

extension JobActionResult {
    fileprivate init(_ answer: CancelAnswer) {
        switch answer {
        case .cancelled: self.init("cancelled", isGood: true)
        case .requested: self.init("requested", "the job is running and ends with the next heartbeat", isGood: true)
        case .tooLate(.running): self.init("too_late", "its result is already being published", isGood: false)
        case .tooLate(let state): self.init("too_late", "the job is \(state.rawValue)", isGood: false)
        case .unknown: self = .unknown
        }
    }
}
