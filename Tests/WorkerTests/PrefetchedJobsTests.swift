import JobSchema
import Lifecycle
import Slots
import Testing

@testable import Jobs
@testable import Worker

/// The order of the jobs that a worker has claimed ahead.
@Suite struct PrefetchedJobsTests {
    private func job(_ id: String, _ priority: String?) -> ActiveJob {
        let fields = priority.map { ["priority": $0] } ?? [:]
        return ActiveJob(
            ClaimedJob(
                id: id, token: "1:a", attempt: 1, attempts: 5, crashes: 0, fields: fields, createdAt: 0, commit: nil),
            session: PairSession(number: 0, configuration: SlotConfiguration(), log: Log(least: .error)))
    }

    private func jobs(_ queues: String) throws -> PrefetchedJobs {
        var jobs = PrefetchedJobs(try QueueOrder(queues))
        for (id, priority) in [("a", "low"), ("b", nil), ("c", "low"), ("d", "high")] {
            jobs.insert(job(id, priority), of: 1)
        }
        jobs.insert(job("x", "normal"), of: 0)
        jobs.insert(job("y", "high"), of: 0)
        return jobs
    }

    @Test func `a higher priority overtakes in its queue, and a queue others that come later in strict order`() throws {
        #expect(try jobs("q,p").all.map(\.job.id) == ["y", "x", "d", "b", "a", "c"])
        #expect(try jobs("q:1,p:1").all.map(\.job.id) == ["d", "b", "a", "c", "y", "x"])
    }

    @Test func `the last job of a lower priority makes room`() throws {
        var strict = try jobs("q,p")
        #expect(strict.last(after: .low, of: 0)?.job.id == "c")
        #expect(strict.last(after: .low, of: 1) == nil)
        #expect(strict.last(after: .normal, of: 1)?.job.id == "c")
        let weighted = try jobs("q:1,p:1")
        #expect(weighted.last(after: .high, of: 0)?.job.id == "x")
        #expect(weighted.last(after: .normal, of: 0) == nil)
        #expect(weighted.last(after: .high, of: 1)?.job.id == "c")

        #expect(strict.popFirst()?.job.id == "y")
        strict.remove(strict.all[1])
        #expect(strict.all.map(\.job.id) == ["x", "b", "a", "c"])
        #expect(strict.all(of: 0).map(\.job.id) == ["x"])
    }
}
