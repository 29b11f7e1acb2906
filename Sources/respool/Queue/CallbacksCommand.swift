import JobSchema
import Jobs
import Lifecycle

extension Command {
    static let callbacks = Command(
        "callbacks", usages: ["[--job ID | --group NAME]", "--retry ID…"],
        "lists callbacks, pending before finished; or sends some again",
        details: [
            "With --job or --group: the last eight of that job, or those of the group's end. A callback that "
                + "was delivered or has failed can be sent again while it is listed; the receiver gets the same webhook-id."
        ],
        options: [
            CallbackOptions.job, .group, CallbackOptions.retry, JobsOptions.limit, .json, .queue, .redis,
        ],
        examples: [
            .init(
                line: "respool callbacks --json", meaning: "with the log of each: every attempt, its status and time"),
            .init(
                line: "respool callbacks --retry 1795200918742-1f0c33e0aa52",
                meaning: "sends one again; exits with 1 if its id is unknown"),
        ],
        operands: 0...Int.max
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        if arguments.has(CallbackOptions.retry) { return try await CallbackOptions.retry(arguments, connection) }
        if let id = arguments.operands.first {
            throw .usage("unexpected operand '\(id)': write --retry or --job before it")
        }
        let limit = try arguments.whole(JobsOptions.limit, in: 1...100_000) ?? 50
        let group = try arguments.group()
        let subject = arguments.value(CallbackOptions.job).map { Callback.Subject.job($0) } ?? group.map { .group($0) }
        let records = try await connection.ask { queue throws(QueueError) in
            guard let subject else { return try await queue.callbacks(limit: limit) }
            return Array(try await queue.callbacks(of: subject).prefix(limit))
        }
        if arguments.has(.json) {
            StandardStream.output(records.map { JSONLine.text($0) + "\n" }.joined())
        } else {
            EmptyList.output(CallbackOptions.lines(records), orSay: "no callbacks are listed")
        }
        return .success
    }
}

enum CallbackOptions {
    static let job = Option("job", value: "ID", "the callbacks of this job")
    static let retry = Option("retry", "sends these again now, with all their attempts")

    static func retry(
        _ arguments: Arguments, _ connection: QueueConnection
    ) async throws(CommandFailure) -> ExitStatus {
        guard !arguments.operands.isEmpty else { throw .usage("--retry requires ids: see `respool callbacks`") }
        let report = JobActionReport(isJSON: arguments.has(.json))
        var isGood = true
        for part in arguments.operands.parts(of: 500) {
            let ids = Array(part)
            let answers = try await connection.ask { queue throws(QueueError) in try await queue.redeliver(ids) }
            if !report.show(ids, answers.map(JobActionResult.init)) { isGood = false }
        }
        return isGood ? .success : .failure
    }

    static func lines(_ records: [CallbackRecord]) -> [String] {
        var table = Table(["ID": .left, "OF": .left, "STATE": .left, "TRIES": .right, "NEXT": .right, "DETAIL": .left])
        let now = WallClock.milliseconds()
        for record in records {
            let next = record.dueAt.map { Formatting.span(Double(max(0, $0 - now)) / 1000) } ?? ""
            let last = record.state == .delivered ? "" : record.log.last.map { ": \($0.message)" } ?? ""
            table.append([
                .init(record.id, .bold), .init(record.subject.job ?? "group \(record.subject.group ?? "")"),
                .init(record.state.rawValue, record.state.color), .init(String(record.attempt)), .init(next),
                .init("\(record.what) to \(record.url)\(last)"),
            ])
        }
        return records.isEmpty ? [] : table.lines(for: Terminal.output)
    }
}

extension CallbackRecord.State {
    fileprivate var color: Terminal.Color? {
        switch self {
        case .waiting, .sending: nil
        case .delivered: .green
        case .failed: .red
        }
    }
}

extension JobActionResult {
    fileprivate init(_ answer: RedeliverAnswer) {
        switch answer {
        case .due: self.init("due", isGood: true)
        case .sending: self.init("sending", "it is being delivered", isGood: true)
        case .unknown: self.init("unknown", "there is no such callback", isGood: false)
        case .lost: self.init("lost", "its body was not stored", isGood: false)
        }
    }
}
