import JobSchema
import Jobs
import Lifecycle
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct RescheduleTests {
    private static let far = WallClock.milliseconds() + 3_600_000

    @Test func `a waiting job with a new priority keeps its place among the jobs of that priority`() async throws {
        try await QueueFixture.run { queue in
            let high = try await queue.enqueue(["priority": "high"])
            let (first, second) = (try await queue.enqueue(), try await queue.enqueue())
            let low = try await queue.enqueue(["priority": "low", "group": "g"])
            #expect(try await queue.queue.reschedule([second, low], priority: .high) == [.rescheduled, .rescheduled])
            #expect(try await queue.record(second).priority == "high")
            #expect(try await queue.claim(4).map(\.id) == [high, second, low, first])
        }
    }

    @Test func `a waiting job is delayed until the instant, and a delayed one runs at once`() async throws {
        try await QueueFixture.run { queue in
            let id = try await queue.enqueue(["limit_key": "k"])
            #expect(try await queue.queue.reschedule([id], start: .now) == [.wrongState(.waiting)])
            #expect(try await queue.queue.reschedule([id], start: .notBefore(Self.far)) == [.rescheduled])
            #expect(try await queue.record(id).dueAt == Self.far)
            #expect(try await queue.claim() == [])
            #expect(try await queue.queue.reschedule([id], priority: .low) == [.rescheduled])
            #expect(try await queue.state(id) == .delayed)
            #expect(try await queue.queue.reschedule([id], start: .now) == [.rescheduled])
            let job = try await queue.claimOne()
            #expect(job.id == id && job.fields["priority"] == "low" && job.fields["not_before"] == nil)
        }
    }

    @Test func `a job is rescheduled before it is admitted, and parked jobs run in their new order`() async throws {
        try await QueueFixture.run { queue in
            try await queue.queue.setLimit(1, key: "k")
            _ = try await queue.enqueue(["limit_key": "k"])
            let running = try await queue.claimOne()
            let (first, second) = (
                try await queue.push(["limit_key": "k"]), try await queue.push(["limit_key": "k", "delay": "60"])
            )
            #expect(try await queue.queue.reschedule([first]) == [.rescheduled])
            #expect(
                try await queue.queue.reschedule([second, first, "1-1"], priority: .high, start: .notBefore(0))
                    == [.rescheduled, .rescheduled, .unknown])
            #expect(try await queue.queue.reschedule([first], priority: .low) == [.rescheduled])
            #expect(try await queue.claim() == [])
            _ = try await queue.finish(running, .completed([]))
            #expect(try await queue.claimOne().id == second)
            #expect(try await queue.queue.reschedule([running.id], priority: .high) == [.wrongState(.completed)])
        }
    }

    @Test func `a job that failed and waits for its next attempt runs at once behind newer ones`() async throws {
        try await QueueFixture.run { queue in
            let id = try await queue.enqueue(["group": "g"])
            _ = try await queue.finish(try await queue.claimOne(), .failed(Failure(.sourceUnreachable, "x")))
            #expect(try await queue.state(id) == .delayed)
            let newer = try await queue.enqueue()
            #expect(try await queue.queue.reschedule([id], start: .now) == [.rescheduled])
            #expect(try await queue.claim(2).map(\.id) == [newer, id])
        }
    }

    @Test func `a quiet worker learns it with its beat`() async throws {
        try await QueueFixture.run { queue in
            #expect(try await queue.queue.setQuiet(true, worker: "host:1") == nil)
            #expect(try await queue.beat([]).order.isQuiet == false)
            #expect(try await queue.queue.setQuiet(true, worker: "host:1") == QueueFixture.worker)
            #expect(try await queue.beat([]).order.isQuiet)
            #expect(try await queue.queue.workers().map(\.isQuiet) == [true])
            #expect(try await queue.queue.setQuiet(false, worker: QueueFixture.worker) != nil)
            #expect(try await queue.beat([]).order.isQuiet == false)
            _ = try await queue.queue.setQuiet(true, worker: "host:1")
            try await queue.queue.removeWorker(QueueFixture.worker)
            #expect(try await queue.queue.setQuiet(true, worker: QueueFixture.worker) == nil)
        }
    }
}
