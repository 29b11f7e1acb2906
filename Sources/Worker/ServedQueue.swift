import Jobs
import Lifecycle

/// A queue that a worker serves, with the connection that waits for its jobs, and the worker's active jobs of it.
struct ServedQueue: Sendable {
    let queue: JobQueue
    let doorbell: Doorbell
    let reporter: TransitionReporter
    let lostLeases: LostLeaseLog
    let activeJobs = ActiveJobs()
}

/// The state of a worker's claims of one queue.
struct QueueInquiry {
    /// A claim without a reply; it is repeated unchanged, because a lost reply may have returned jobs.
    var request: ClaimRequest?
    /// The number of consecutive failed claims.
    var failures = 0
    /// How long to wait for the next job if no bell rings.
    var rest: Duration = .seconds(1)
    /// The wait for a bell, or after a failure, while there is one.
    var bell: Task<Void, Never>?
    /// Whether the wait has ended, so that the next claim is due.
    var isDue = false
    /// Whether a bell was received for which no claim has been made.
    var isRung = false
}
