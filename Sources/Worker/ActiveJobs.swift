import Jobs
import Synchronization

/// All jobs whose leases this worker holds.
final class ActiveJobs: Sendable {
    private let jobs = Mutex<[String: ActiveJob]>([:])

    var all: [ActiveJob] { jobs.withLock { Array($0.values) } }

    var count: Int { jobs.withLock { $0.count } }

    /// Adds a job. An earlier attempt of the same job that is still here has lost its lease.
    func insert(_ job: ActiveJob) {
        let earlier = jobs.withLock { $0.updateValue(job, forKey: job.job.id) }
        earlier?.end(.lost)
    }

    /// Removes a job that is finished.
    func remove(_ job: ActiveJob) {
        jobs.withLock { jobs in
            if jobs[job.job.id] === job { jobs[job.job.id] = nil }
        }
    }
}
