import Jobs
import Synchronization

/// All jobs that this worker holds.
final class Hand: Sendable {
    private let jobs = Mutex<[String: JobInHand]>([:])

    var all: [JobInHand] { jobs.withLock { Array($0.values) } }

    var count: Int { jobs.withLock { $0.count } }

    /// Takes a job; an earlier try of the same job that is still in hand has lost its lease.
    func take(_ job: JobInHand) {
        let earlier = jobs.withLock { $0.updateValue(job, forKey: job.job.id) }
        earlier?.end(.lost)
    }

    /// Lets go of a job that is over.
    func drop(_ job: JobInHand) {
        jobs.withLock { jobs in
            if jobs[job.job.id] === job { jobs[job.job.id] = nil }
        }
    }
}
