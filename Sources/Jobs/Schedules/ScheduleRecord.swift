package import JobSchema
import Redis

/// A schedule as the queue stores it.
package struct ScheduleRecord: Sendable, Hashable {
    /// The schedule's name.
    package let name: String
    /// The cron expression as it was written.
    package let expression: String
    /// The IANA name of the time zone.
    package let zone: String
    /// The job's fields, in which `{date}` and `{time}` are replaced by those of an occurrence.
    package let fields: [String: String]
    /// When the next job is due, in milliseconds since 1970; `nil` while the schedule is paused.
    package let next: Int64?
    /// When the last job was due.
    package let last: Int64?
    /// The id of the last job.
    package let job: String?
    /// Identifies this version of the schedule among others of the same name.
    let revision: String

    /// Creates a record from a hash and its score; `nil` if the schedule was removed in the meantime.
    init?(name: String, hash: RedisValue, next: RedisValue) {
        let hash = (hash.dictionary ?? [:]).compactMapValues(\.string)
        guard let expression = hash["cron"], let zone = hash["zone"], let revision = hash["revision"] else {
            return nil
        }
        self.name = name
        self.expression = expression
        self.zone = zone
        self.revision = revision
        fields = SpecText.decode(Array((hash["spec"] ?? "").utf8))
        // The score is infinity while the schedule is paused.
        self.next = next.string.flatMap { Int64($0) }
        last = hash["last"].flatMap { Int64($0) }
        job = hash["job"]
    }

    /// Parses the expression and loads the time zone; throws if either is invalid.
    package func recurrence() throws(Failure) -> Recurrence { try Recurrence(expression, zone: zone) }

    /// The placeholders in fields that are replaced by parts of an occurrence's time.
    package static let placeholders = ["{date}", "{time}"]
}
