import Jobs
import Lifecycle

/// A queue that a worker serves, the connection that waits for its jobs, and what the worker holds of it.
struct ServedQueue: Sendable {
    let queue: JobQueue
    let doorbell: Doorbell
    let reporter: TransitionReporter
    let lostLeases: LostLeaseLog
    let activeJobs = ActiveJobs()
}

/// Where a worker is with asking one of its queues.
struct QueueInquiry {
    /// A claim that was not answered; it stays the same, for an answer that got lost may have given jobs.
    var request: ClaimRequest?
    /// Claims in a row that failed.
    var failures = 0
    /// How long nothing is to be expected there, unless somebody rings.
    var rest: Duration = .seconds(1)
    /// The wait at the doorbell, or after a failure, while there is one.
    var bell: Task<Void, Never>?
    /// Whether the wait ended, so that the queue is to be asked again.
    var isDue = false
    /// Whether somebody rang whom nobody answered yet.
    var isRung = false
}
