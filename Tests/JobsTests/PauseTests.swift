import JobSchema
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct PauseTests {
    @Test func `a paused queue hands out no job, and a resumed one does`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            try await fixture.queue.pause()
            let pushed = try await fixture.push()
            let claim = try await fixture.queue.claim(count: 5, worker: QueueFixture.worker)
            #expect(claim.isPaused && claim.jobs.isEmpty)
            #expect(try await fixture.queue.stats().isPaused)
            #expect(try await fixture.state(pushed) == .waiting)
            try await fixture.queue.resume()
            #expect(try await !fixture.queue.stats().isPaused)
            #expect(try await fixture.claim(5).map(\.id) == [id, pushed])
        }
    }

    @Test func `a beat tells the highest priority of the ready jobs, unless the queue is paused`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await fixture.beat([]).readyPriority == nil)
            for priority in ["low", "high"] {
                _ = try await fixture.push(["priority": priority])
                #expect(try await fixture.beat([]).readyPriority?.name == priority)
            }
            try await fixture.queue.pause()
            #expect(try await fixture.beat([]).readyPriority == nil)
            try await fixture.queue.resume()
            #expect(try await fixture.claim().count == 1)
            #expect(try await fixture.beat([]).readyPriority == .low)
            #expect(try await fixture.claim().count == 1)
            #expect(try await fixture.beat([]).readyPriority == nil)
        }
    }
}
