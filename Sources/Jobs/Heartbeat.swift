package import JobSchema
package import MediaTypes

/// The heartbeat of one running job.
package struct Heartbeat: Sendable, Hashable {
    /// The id of the running job.
    package let id: String
    /// The token of the job's claim.
    package let token: String
    /// The progress to store; `nil` leaves the stored one unchanged.
    package let progress: Progress?

    package init(id: String, token: String, progress: Progress? = nil) {
        self.id = id
        self.token = token
        self.progress = progress
    }
}

/// The reply to a beat.
package struct BeatAnswer: Sendable, Hashable {
    /// By job id; contains every job of the beat.
    package let replies: [String: BeatReply]
    /// Whether a callback is due.
    package let hasCallbacks: Bool
    /// Whether `runDueSchedules` should be called.
    package let isScheduleDue: Bool
    /// Leases that the beat found expired.
    package let lostLeases: [LostLease]
    /// The highest priority of a job that a worker can claim; `nil` if there is none.
    package let readyPriority: JobSpec.Priority?
    /// Whether the worker is to claim no more jobs.
    package let isQuiet: Bool
}

/// The reply about one job of a beat.
package enum BeatReply: String, Sendable {
    case ok = "OK"
    /// Another worker owns the job, or it has ended: stop, and publish nothing.
    case lost = "LOST"
    /// Cancellation of the job was requested.
    case cancel = "CANCEL"
    /// The job's deadline has passed.
    case expired = "EXPIRED"
}
