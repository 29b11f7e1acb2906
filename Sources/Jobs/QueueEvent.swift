/// One change in a queue, as the stream of events tells it.
package struct QueueEvent: Sendable, Hashable {
    /// The entry's id in the stream.
    package let entry: String
    /// Counts up by one from event to event.
    package let number: Int64
    /// The job's id; empty where the change is the queue's.
    package let id: String
    /// The job's new state, or `duplicate`, `purged`, `paused`, `resumed`, `sealed`, `group_ended`.
    package let state: String
    /// What else is told: `attempt`, `phase`, `progress`, `code`, `due`, `of`, `group` and its counts.
    package let details: [String: String]

    /// Milliseconds since 1970.
    package var moment: Int64 { JobRecord.moment(ofID: entry) }
}
