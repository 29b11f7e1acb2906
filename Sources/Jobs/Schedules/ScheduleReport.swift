import JobSchema
import Lifecycle

/// The JSON form of a schedule. If it has no next time, it is paused.
package struct ScheduleReport: Encodable {
    let name: String
    let cron: String
    let zone: String
    @Nullable var next: String?
    /// The next five times, the first of which is `next_at`.
    let upcoming: [String]
    @Nullable var last: String?
    @Nullable var job: String?
    @Nullable var source: String?
    @Nullable var format: String?

    private enum CodingKeys: String, CodingKey {
        case name, cron, job, source, format, upcoming
        case zone = "time_zone"
        case next = "next_at"
        case last = "last_at"
    }

    package init(_ schedule: ScheduleRecord) {
        name = schedule.name
        cron = schedule.expression
        zone = schedule.zone
        next = schedule.next.map { WallClock.timestamp(milliseconds: $0) }
        upcoming = Self.times(of: schedule, 5).map { WallClock.timestamp(milliseconds: $0) }
        last = schedule.last.map { WallClock.timestamp(milliseconds: $0) }
        job = schedule.job
        source = schedule.fields["source"].map(redactedURL)
        format = schedule.fields["format"]
    }

    private static func times(of schedule: ScheduleRecord, _ count: Int) -> [Int64] {
        guard let first = schedule.next, let recurrence = try? schedule.recurrence() else { return [] }
        var times = [first]
        while times.count < count, let next = recurrence.next(after: times.last!) { times.append(next) }
        return times
    }
}
