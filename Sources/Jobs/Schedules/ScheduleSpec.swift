package import JobSchema

/// A schedule whose expression, time zone and fields have been checked.
package struct ScheduleSpec: Sendable {
    /// When its jobs are pushed.
    package let recurrence: Recurrence
    /// The job's fields, in which `{date}` and `{time}` are replaced by those of an occurrence.
    package let fields: [String: String]

    /// The time zone of a schedule that names none.
    package static let defaultZone = "UTC"

    /// All that is wrong with a schedule; at least one.
    package struct Faults: Error {
        package fileprivate(set) var all: [(part: Part, failure: Failure)] = []

        /// The parts of a schedule.
        package enum Part: Sendable {
            case expression, zone, fields
        }

        fileprivate mutating func value<Value>(_ part: Part, _ read: () throws(Failure) -> Value) -> Value? {
            do throws(Failure) { return try read() } catch {
                all.append((part, error))
                return nil
            }
        }
    }

    /// Checks the schedule, and the job of its next occurrence after `now`, in milliseconds since 1970.
    package init(_ expression: String, zone: String, fields: [String: String], now: Int64) throws(Faults) {
        var faults = Faults()
        let cron = faults.value(.expression) { () throws(Failure) in try CronExpression(expression) }
        let rules = faults.value(.zone) { () throws(Failure) in try TimeZoneRules.named(zone) }
        let recurrence = cron.flatMap { cron in rules.map { Recurrence(cron, $0) } }
        let next = recurrence?.next(after: now)
        if recurrence != nil, next == nil {
            let message = "`\(expression)` has no occurrence within 50 years: give another expression"
            faults.all.append((.expression, Failure(.invalidRequest, message)))
        }
        let parts = next.flatMap { recurrence?.parts(at: $0) } ?? ("2030-01-31", "12-00")
        _ = faults.value(.fields) { () throws(Failure) in try Self.check(fields, parts) }
        guard let recurrence, faults.all.isEmpty else { throw faults }
        self.recurrence = recurrence
        self.fields = fields
    }

    /// Validates the job of one occurrence.
    private static func check(_ fields: [String: String], _ parts: (date: String, time: String)) throws(Failure) {
        let filled = fields.mapValues { value in
            zip(ScheduleRecord.placeholders, [parts.date, parts.time]).reduce(value) { $0.replacing($1.0, with: $1.1) }
        }
        let spec = try JobSpec(fields: filled)
        for (name, moment) in [("not_before", spec.start), ("expires", spec.expires), ("deadline", spec.deadline)] {
            guard case .at = moment else { continue }
            throw Failure(
                field: name,
                "`\(name)` is a fixed instant, and a schedule repeats: give seconds\(name == "not_before" ? " as `delay`" : "")"
            )
        }
    }
}
