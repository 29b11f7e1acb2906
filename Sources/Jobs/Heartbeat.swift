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
    /// The latest order of the worker.
    package let order: WorkerOrder
    /// Whether a script has failed half-way, and this worker is the one to repair the queue.
    package let isBroken: Bool
}

/// What a worker was told last: to claim no more jobs, or to claim jobs again.
package struct WorkerOrder: Sendable, Hashable {
    /// When it was told, in ms since 1970; negative if it was told to claim again, 0 if it was never told anything.
    let moment: Int64

    package static let none = WorkerOrder(moment: 0)

    /// Whether the worker is to claim no more jobs.
    package var isQuiet: Bool { moment > 0 }

    /// Whether this order came after the other one.
    package func isLater(than other: WorkerOrder) -> Bool { moment.magnitude > other.moment.magnitude }
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
