package import MediaTypes

/// A sign of life of one running job.
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

/// What the queue says to a beat.
package struct BeatAnswer: Sendable, Hashable {
    /// By job id; every job of the beat is there.
    package let verdicts: [String: Verdict]
    /// Whether a callback is due.
    package let hasCallbacks: Bool
    /// Whether somebody should call `runDueSchedules`.
    package let isScheduleDue: Bool
    /// Leases that the beat found expired.
    package let lostLeases: [LostLease]

    package enum Verdict: String, Sendable {
        case ok = "OK"
        /// The job is another's, or over: stop, and publish nothing.
        case lost = "LOST"
        /// Somebody asked for the job to be cancelled.
        case cancel = "CANCEL"
        /// The job's deadline is over.
        case expired = "EXPIRED"
    }
}
