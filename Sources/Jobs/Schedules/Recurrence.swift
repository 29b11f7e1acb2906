package import JobSchema
import Lifecycle

/// A cron expression in a time zone.
package struct Recurrence: Sendable {
    /// The cron expression, evaluated by the local clock.
    package let expression: CronExpression
    /// The time zone of that clock.
    package let zone: TimeZoneRules

    /// Parses an expression, and loads the rules of a time zone by its IANA name.
    package init(_ expression: String, zone: String) throws(Failure) {
        self.init(try CronExpression(expression), try TimeZoneRules.named(zone))
    }

    init(_ expression: CronExpression, _ zone: TimeZoneRules) {
        self.expression = expression
        self.zone = zone
    }

    /// The first occurrence after a moment, both in milliseconds since 1970; `nil` if there is none within 50 years.
    ///
    /// Hours that the local clock skips or repeats are handled as in cron. An occurrence at a fixed time of day runs
    /// once: at the end of the skipped hour, or in the first of the two. Periodic ones (with `*` as minute or hour)
    /// follow elapsed time.
    package func next(after milliseconds: Int64) -> Int64? {
        let time = milliseconds.floorDivided(by: 1000)
        return (expression.isPeriodic ? nextPassing(time) : nextShown(time)).map { $0 * 1000 }
    }

    /// The local date and time at a moment, such as `2030-01-31` and `02-30`, for use in a file's name.
    package func parts(at milliseconds: Int64) -> (date: String, time: String) {
        let shown = WallClock.timestamp(
            milliseconds: milliseconds + zone.offset(at: milliseconds.floorDivided(by: 1000)) * 1000)
        return (String(shown.prefix(10)), String(shown.dropFirst(11).prefix(5)).replacing(":", with: "-"))
    }

    /// The local time at a moment and its offset from UTC, such as `2030-01-31 06:00 +01:00`.
    package func clock(at milliseconds: Int64) -> String {
        let offset = zone.offset(at: milliseconds.floorDivided(by: 1000))
        let shown = WallClock.timestamp(milliseconds: milliseconds + offset * 1000)
        let minutes = Int(offset.magnitude / 60)
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        let ahead = "\(offset < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
        return "\(shown.prefix(10)) \(shown.dropFirst(11).prefix(5)) \(ahead)"
    }

    private func nextShown(_ time: Int64) -> Int64? {
        var reading = time + zone.offset(at: time)
        while let shown = expression.first(from: reading) {
            let moment = zone.moment(showing: shown)
            if moment > time { return moment }
            reading = shown + 1
        }
        return nil
    }

    private func nextPassing(_ time: Int64) -> Int64? {
        var start = time + 1
        while true {
            let offset = zone.offset(at: start)
            guard let reading = expression.first(from: start + offset) else { return nil }
            let change = zone.nextChange(after: start) ?? .max
            if reading - offset < change { return reading - offset }
            start = change
        }
    }
}
