package import MediaTypes

/// The heartbeat of one running job.
package struct Heartbeat: Sendable, Hashable {
    package let id: String
    package let token: String
    package let progress: Progress?

    package init(id: String, token: String, progress: Progress? = nil) {
        self.id = id
        self.token = token
        self.progress = progress
    }
}

/// What the queue answers to a beat.
package struct BeatAnswer: Sendable, Hashable {
    /// By job id; every job of the beat is there.
    package let replies: [String: BeatReply]
    /// Whether a callback is due.
    package let hasCallbacks: Bool
    /// Whether somebody should call `runDueSchedules`.
    package let isScheduleDue: Bool
    /// Leases that the beat found expired.
    package let lostLeases: [LostLease]
}

/// What the queue replies about one job of a beat.
package enum BeatReply: String, Sendable {
    case ok = "OK"
    /// Another worker has the job, or it is finished: stop, and publish nothing.
    case lost = "LOST"
    /// The job is to be cancelled.
    case cancel = "CANCEL"
    /// The job's deadline has passed.
    case expired = "EXPIRED"
}
