/// A lease that was found expired: its worker was lost, and the job was taken back.
package struct LostLease: Sendable, Hashable {
    /// The id of the job that was taken back.
    package let job: String
    /// The number of the lost attempt.
    package let attempt: Int
    /// `host:pid` of the worker that was lost.
    package let worker: String
    /// The job's new state.
    package let state: JobState

    package init(job: String, attempt: Int, worker: String, state: JobState) {
        self.job = job
        self.attempt = attempt
        self.worker = worker
        self.state = state
    }

    /// Decodes the leases in a script's answer.
    static func all(_ answer: ScriptAnswer) throws(QueueError) -> [LostLease] {
        var parts = try answer.parts()
        var leases: [LostLease] = []
        while !parts.isEmpty { leases.append(try LostLease(unpacking: &parts)) }
        return leases
    }

    /// Decodes a lease as `maintenance.lua` packs it.
    private init(unpacking parts: inout ScriptParts) throws(QueueError) {
        job = try parts.text()
        attempt = try parts.integer()
        worker = try parts.text()
        let word = try parts.next()
        guard let state = JobState(rawValue: try word.text()) else { throw word.unexpected }
        self.state = state
    }
}
