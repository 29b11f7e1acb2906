/// A lease that was found expired: its worker was lost, and the job taken from it.
package struct LostLease: Sendable, Hashable {
    package let job: String
    package let attempt: Int
    /// `host:pid` of the worker that was lost.
    package let worker: String
    /// What became of the job.
    package let state: JobState

    package init(job: String, attempt: Int, worker: String, state: JobState) {
        self.job = job
        self.attempt = attempt
        self.worker = worker
        self.state = state
    }

    /// Leases as scripts answer them.
    static func all(_ answer: ScriptAnswer) throws(QueueError) -> [LostLease] {
        let parts = try answer.array()
        guard parts.count.isMultiple(of: 4) else { throw answer.unexpected }
        var leases: [LostLease] = []
        for index in stride(from: 0, to: parts.count, by: 4) {
            guard let state = JobState(rawValue: try parts[index + 3].text()) else { throw parts[index + 3].unexpected }
            leases.append(
                LostLease(
                    job: try parts[index].text(), attempt: try parts[index + 1].integer(),
                    worker: try parts[index + 2].text(), state: state))
        }
        return leases
    }
}
