import JobSchema
import Jobs

extension Command {
    static let reschedule = Command(
        "reschedule", usages: ["ID…"],
        "changes the priority of waiting jobs, or when they start; exits with 1 if one has started",
        details: [
            "A job keeps its place among the jobs of its new priority. With --not-before, it is delayed until that instant; with "
                + "--now, a delayed job may start at once."
        ],
        options: [
            RescheduleOptions.priority, RescheduleOptions.notBefore, RescheduleOptions.now, .json, .queue, .redis,
        ],
        examples: [
            .init(line: "respool reschedule 1795200918742-0 --priority high --now", meaning: "runs next"),
            .init(line: "respool reschedule 1795200918742-0 --not-before 2030-01-31T22:00:00Z", meaning: "at night"),
        ],
        operands: 1...Int.max
    ) { arguments throws(CommandFailure) in
        let names = JobSpec.Priority.allCases.map(\.name)
        let priority = try arguments.word(RescheduleOptions.priority, of: names).flatMap(JobSpec.Priority.init(name:))
        let start = try RescheduleOptions.start(arguments)
        guard priority != nil || start != nil else {
            throw .usage("nothing to change: give --priority, --not-before or --now")
        }
        let connection = try QueueConnection(arguments)
        let report = JobActionReport(isJSON: arguments.has(.json))
        let ids = arguments.operands
        let answers = try await connection.ask { queue throws(QueueError) in
            try await queue.reschedule(ids, priority: priority, start: start)
        }
        return report.show(ids, answers.map(JobActionResult.init)) ? .success : .failure
    }
}

enum RescheduleOptions {
    static let priority = Option(
        "priority", value: "WORD", "high, normal or low", suggestion: .words(JobSpec.Priority.allCases.map(\.name)))
    static let notBefore = Option(
        "not-before", value: "INSTANT", "starts no earlier than an ISO 8601 instant: 2030-01-31T12:00:00Z")
    static let now = Option("now", "starts as soon as a worker is free")

    static func start(_ arguments: Arguments) throws(CommandFailure) -> JobStart? {
        guard let text = arguments.value(notBefore) else { return arguments.has(now) ? .notBefore(0) : nil }
        guard !arguments.has(now) else { throw .usage("--not-before and --now are mutually exclusive: give one") }
        guard let instant = Instant.milliseconds(parsing: text) else {
            throw .usage("--not-before is '\(text)': write an ISO 8601 instant, such as 2030-01-31T12:00:00Z")
        }
        return .notBefore(instant)
    }
}

extension JobActionResult {
    fileprivate init(_ answer: RescheduleAnswer) {
        switch answer {
        case .rescheduled: self.init("rescheduled", isGood: true)
        case .wrongState(let state):
            self.init(
                "wrong_state", "the job is \(state.rawValue); only waiting and delayed jobs can be rescheduled",
                isGood: false)
        case .unknown: self = .unknown
        }
    }
}
