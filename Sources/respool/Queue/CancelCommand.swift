import Jobs

extension Command {
    static let cancel = Command(
        "cancel", usages: ["ID…", "--group NAME"],
        "cancels jobs; exits with 1 if one is unknown or has already finished",
        details: [
            "A waiting job is cancelled immediately, a running one within about a "
                + "second, and leaves no output. With --group: all unfinished jobs of the group."
        ],
        options: [.group, .json, .queue, .redis], operands: 0...Int.max
    ) { arguments throws(CommandFailure) in
        let selection = try JobSelection(arguments)
        let report = JobActionReport(isJSON: arguments.has(.json))
        return try await selection.each(rank: .left) { connection, ids throws(CommandFailure) in
            let answers = try await connection.ask { queue throws(QueueError) in try await queue.cancel(ids) }
            return report.show(ids, answers.map(JobActionResult.init))
        }
    }
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
