package import JobSchema

/// A schedule whose expression, time zone and fields have been checked.
package struct ScheduleSpec: Sendable {
    /// When its jobs are pushed.
    package let recurrence: Recurrence
    /// The job's fields, in which `{date}` and `{time}` are replaced by those of an occurrence.
    package let fields: [String: String]

    /// The time zone of a schedule that names none.
    package static let defaultZone = "UTC"

    /// What is wrong with a schedule.
    package struct Fault: Error {
        /// The part that is wrong.
        package let part: Part
        /// Why it is.
        package let failure: Failure

        /// The parts of a schedule.
        package enum Part: Sendable {
            case expression, zone, fields
        }
    }

    /// Checks the schedule, and the job of its next occurrence after `now`, in milliseconds since 1970.
    package init(_ expression: String, zone: String, fields: [String: String], now: Int64) throws(Fault) {
        let (cron, rules): (CronExpression, TimeZoneRules)
        do throws(Failure) { cron = try CronExpression(expression) } catch {
            throw Fault(part: .expression, failure: error)
        }
        do throws(Failure) { rules = try TimeZoneRules.named(zone) } catch { throw Fault(part: .zone, failure: error) }
        recurrence = Recurrence(cron, rules)
        guard let next = recurrence.next(after: now) else {
            throw Fault(
                part: .expression,
                failure: Failure(
                    .invalidRequest, "`\(expression)` has no occurrence within 50 years: give another expression"))
        }
        self.fields = fields
        do throws(Failure) { try Self.check(fields, recurrence.parts(at: next)) } catch {
            throw Fault(part: .fields, failure: error)
        }
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
