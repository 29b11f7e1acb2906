import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct AttemptTests {
    @Test func `a job has the attempts that ended, and the one that runs or completed it`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            func history() async throws -> [AttemptRecord] { try await fixture.record(id).history }
            #expect(try await history() == [])
            var job = try await fixture.claimOne()
            #expect(try await history().map(\.outcome) == [nil])
            #expect(try await history().first?.endedAt == nil)
            _ = try await fixture.finish(job, .failed(Failure(.timeout, "x")))
            try await fixture.makeDue()
            job = try await fixture.claimOne()
            _ = try await fixture.finish(job, .released)
            _ = try await fixture.claimOne()
            try await fixture.endLeases()
            job = try await fixture.claimOne()
            _ = try await fixture.finish(job, .completed([]))
            let attempts = try await history()
            #expect(attempts.map(\.outcome) == [.failed, .released, .crashed, .completed], "\(attempts)")
            #expect(attempts.map(\.attempt) == [1, 2, 2, 2])
            #expect(attempts.map(\.code) == [.timeout, nil, .crashed, nil])
            #expect(attempts.allSatisfy { $0.worker == "host:1" && $0.startedAt <= $0.endedAt ?? 0 })
        }
    }

    @Test func `a job that failed keeps its attempts when it is retried, up to 16`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            for _ in 0..<18 {
                _ = try await fixture.finish(try await fixture.claimOne(), .failed(Failure(.noAudio, "x")))
                #expect(try await fixture.queue.retry([id]) == [.retried])
            }
            let job = try await fixture.claimOne()
            #expect(try await fixture.queue.cancel([id]) == [.requested])
            _ = try await fixture.finish(job, .cancelled)
            let attempts = try await fixture.record(id).history
            #expect(attempts.map(\.outcome) == Array(repeating: .failed, count: 15) + [.cancelled], "\(attempts)")
        }
    }

    @Test func `a job that completes at its first attempt stores no history`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            let fields = try await fixture.client.send(["HKEYS", .text(fixture.queue.keys.job(id))]).array
            #expect(fields?.contains { $0.string == "history" } == false)
            #expect(try await fixture.record(id).history.map(\.outcome) == [.completed])
        }
    }
}
