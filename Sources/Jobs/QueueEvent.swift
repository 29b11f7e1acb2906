/// One change in a queue, from the stream of events.
package struct QueueEvent: Sendable, Hashable {
    /// The entry's id in the stream.
    package let entry: String
    /// Increases by one with each event.
    package let number: Int64
    /// The job's id; empty if the event concerns the queue.
    package let id: String
    /// The job's new state, or `duplicate`, `purged`, `paused`, `resumed`, `sealed`, `group_ended`.
    package let state: String
    /// Further fields: `attempt`, `phase`, `progress`, `code`, `due`, `of`, `group` and `traceparent` of the job, or `group` with
    /// the counts of a group.
    package let details: [String: String]

    /// Milliseconds since 1970.
    package var moment: Int64 { JobRecord.moment(ofID: entry) }
}
