package import JobSchema
import Redis

/// A job that comes again and again.
package struct ScheduleRecord: Sendable, Hashable {
    package let name: String
    package let expression: String
    package let zone: String
    /// The job's fields, in which `{date}` and `{time}` stand for those of an occurrence.
    package let fields: [String: String]
    /// When the next job is due, in milliseconds since 1970; nothing while it is paused.
    package let next: Int64?
    /// When the last job was due.
    package let last: Int64?
    /// The id of the last job.
    package let job: String?
    /// What tells this schedule from another that had its name.
    let revision: String

    /// The schedule of a hash and its score; nothing if it was removed meanwhile.
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
        // Infinity while it is paused.
        self.next = next.string.flatMap { Int64($0) }
        last = hash["last"].flatMap { Int64($0) }
        job = hash["job"]
    }

    package func recurrence() throws(Failure) -> Recurrence { try Recurrence(expression, zone: zone) }

    /// The words that stand for parts of an occurrence's time.
    package static let placeholders = ["{date}", "{time}"]
}
