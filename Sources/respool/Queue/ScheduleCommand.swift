import JobSchema
import Jobs
import Lifecycle
import Text

extension Command {
    static let schedule = Command(
        "schedule",
        usages: ["add NAME CRON --source URL --format FORMAT", "list", "remove|run|pause|resume NAME"],
        "pushes a job repeatedly, at the times of a cron expression",
        details: [
            "CRON has five fields: minute, hour, day of the month, month and day of the week, "
                + "or is @hourly, @daily, @weekly, @monthly or @yearly. Schedules require a running "
                + "worker; occurrences missed without one result in one job when a worker runs again.",
            "{date} and {time} in the job's fields become those of the occurrence: 2030-01-31, "
                + "02-30. Give --dedup to skip an occurrence while the previous job is unfinished.",
        ],
        options: [FieldOptions.source] + FieldOptions.all + [
            ScheduleOptions.timeZone, ScheduleOptions.replace, .json, .queue, .redis,
        ],
        examples: [
            .init(
                line: "respool schedule add news '0 6 * * MON-FRI' --time-zone Europe/Berlin \\",
                meaning: "--source https://example.org/{date}.wav --to mp3 --output news/{date}.mp3"),
            .init(line: "respool schedule run news", meaning: "pushes one job now"),
        ],
        operands: 1...3, operandSuggestion: .words(ScheduleOptions.verbs)
    ) { arguments throws(CommandFailure) in
        let operands = arguments.operands
        let count = ["add": 3, "list": 1][operands[0]] ?? 2
        guard ScheduleOptions.verbs.contains(operands[0]) else {
            throw .usage(
                "unknown action '\(operands[0])': give \(ScheduleOptions.verbs.joined(separator: ", "))")
        }
        guard operands.count == count else {
            throw .usage(
                "`schedule \(operands[0])` takes \(Formatting.count(count - 1, "more operand")), not \(operands.count - 1); see `respool schedule --help`"
            )
        }
        let book = ScheduleBook(connection: try QueueConnection(arguments), isJSON: arguments.has(.json))
        switch operands[0] {
        case "add": try await book.add(operands[1], operands[2], arguments)
        case "list": try await book.list()
        case let verb: try await book.change(operands[1], verb)
        }
        return .success
    }
}

enum ScheduleOptions {
    static let verbs = ["add", "list", "remove", "run", "pause", "resume"]
    static let timeZone = Option(
        "time-zone", value: "ZONE", "time zone of the cron expression: Europe/Berlin", fallback: "UTC")
    static let replace = Option("replace", "replaces the schedule of that name")
}

/// Shows and changes the schedules of a queue.
private struct ScheduleBook {
    let connection: QueueConnection
    let isJSON: Bool

    func add(_ name: String, _ expression: String, _ arguments: Arguments) async throws(CommandFailure) {
        guard KeyName.isValid(name) else {
            throw .usage("'\(name)' is not a schedule name: give 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        let fields = try fields(arguments)
        let zone = arguments.value(ScheduleOptions.timeZone) ?? ScheduleSpec.defaultZone
        let spec: ScheduleSpec
        do throws(ScheduleSpec.Faults) {
            spec = try ScheduleSpec(expression, zone: zone, fields: fields, now: WallClock.milliseconds())
        } catch {
            var usage = CommandFailure.usage(error.all[0].failure)
            usage.details += error.all.dropFirst().flatMap { [$0.failure.message] + $0.failure.otherFaults }
            throw usage
        }
        let nonce = Nonce.random()
        let isPut = try await connection.askTwice { queue throws(QueueError) in
            try await queue.putSchedule(
                name, spec, replaces: arguments.has(ScheduleOptions.replace), nonce: nonce)
        }
        guard isPut else { throw .failed("the schedule '\(name)' exists: add --replace, or give another name") }
        show([try await schedule(name)])
    }

    func list() async throws(CommandFailure) {
        show(try await connection.ask { queue throws(QueueError) in try await queue.schedules() })
    }

    func change(_ name: String, _ verb: String) async throws(CommandFailure) {
        let schedule = try await schedule(name)
        let nonce = Nonce.random()
        let isDone = try await connection.askTwice { queue throws(QueueError) in
            switch verb {
            case "run":
                let id = try await queue.runSchedule(schedule, nonce: nonce)
                if let id { StandardStream.output(id + "\n") }
                return id != nil
            case "remove":
                // The schedule existed a moment ago, so it is removed now, by this process or another.
                _ = try await queue.removeSchedule(name)
                return true
            default: return try await queue.setSchedule(schedule, isPaused: verb == "pause")
            }
        }
        guard isDone else { throw .failed("the schedule '\(name)' was changed by another client: check it and retry") }
    }

    private func schedule(_ name: String) async throws(CommandFailure) -> ScheduleRecord {
        let found = try await connection.ask { queue throws(QueueError) in try await queue.schedule(name) }
        guard let found else { throw .failed("there is no schedule '\(name)': see `respool schedule list`") }
        return found
    }

    /// The job's fields, with the placeholders for dates and times unchanged.
    private func fields(_ arguments: Arguments) throws(CommandFailure) -> [String: String] {
        var fields = FieldOptions.fields(arguments, of: FieldOptions.all)
        guard let source = arguments.value(FieldOptions.source) else {
            throw .usage("missing source: give --source URL")
        }
        var url = try SourceAddress.url(source)
        if !SourceAddress.isURL(source) {
            for word in ScheduleRecord.placeholders {
                url = url.replacing(PercentEncoding.encoded(path: word), with: word)
            }
        }
        fields["source"] = url
        return fields
    }

    private func show(_ schedules: [ScheduleRecord]) {
        guard !isJSON else {
            return StandardStream.output(schedules.map { JSONLine.text(ScheduleReport($0)) + "\n" }.joined())
        }
        var table = Table([
            "NAME": .left, "CRON": .left, "ZONE": .left, "NEXT": .left, "LAST": .left, "LAST JOB": .left,
        ])
        for schedule in schedules {
            table.append([
                .init(schedule.name, .bold), .init(schedule.expression), .init(schedule.zone),
                .init(schedule.next.map(schedule.clock) ?? "paused"), .init(schedule.last.map(schedule.clock) ?? "-"),
                .init(schedule.job ?? "-"),
            ])
        }
        EmptyList.output(
            schedules.isEmpty ? [] : table.lines(for: .output),
            orSay: "there are no schedules: add one with `respool schedule add`")
    }
}

extension ScheduleRecord {
    /// A time in the schedule's time zone, or in UTC if the zone is unknown on this machine.
    fileprivate func clock(_ milliseconds: Int64) -> String {
        (try? recurrence())?.clock(at: milliseconds) ?? WallClock.timestamp(milliseconds: milliseconds)
    }
}
