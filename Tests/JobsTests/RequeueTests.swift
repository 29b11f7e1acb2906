import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// Where a job stands that goes back to waiting.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct RequeueTests {
    /// It is retried after an hour, or as soon as a test makes it due: a busy machine may need longer than the usual delay.
    private let broken = Failure(.sourceUnreachable, "no route", retryAfter: 3600)

    @Test func `a job whose attempt failed waits behind newer ones of its priority`() async throws {
        try await QueueFixture.run { fixture in
            let failing = try await fixture.enqueue(["group": "g"])
            let low = try await fixture.enqueue(["priority": "low"])
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(broken))
            let good = try await fixture.enqueue(["group": "g"])
            try await fixture.makeDue()
            #expect(try await fixture.claim(3).map(\.id) == [good, failing, low])
            #expect(try await fixture.queue.members(of: "g", limit: 10).ids == [good, failing])
        }
    }

    @Test func `jobs that always fail do not hold up good ones`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 20))
            for job in try await fixture.claim(20) { _ = try await fixture.finish(job, .failed(broken)) }
            try await fixture.makeDue()
            var good: Set<String> = []
            for _ in 0..<5 { good.insert(try await fixture.enqueue()) }
            var attempts = 0
            while !good.isEmpty, attempts < 200 {
                let job = try await fixture.claimOne()
                if good.remove(job.id) != nil {
                    _ = try await fixture.finish(job, .completed([]))
                } else {
                    attempts += 1
                    _ = try await fixture.finish(job, .failed(broken))
                    try await fixture.makeDue()
                }
            }
            #expect(attempts == 0)
        }
    }

    @Test func `a retried job of a full limit key is parked behind newer ones`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(1, key: "k")
            let failing = try await fixture.enqueue(["limit_key": "k"])
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(broken))
            let running = try await fixture.enqueue(["limit_key": "k"])
            let job = try await fixture.claimOne()
            #expect(job.id == running)
            let newer = try await fixture.enqueue(["limit_key": "k"])
            try await fixture.makeDue()
            #expect(try await fixture.claim(3).isEmpty)
            _ = try await fixture.finish(job, .completed([]))
            let next = try await fixture.claimOne()
            #expect(next.id == newer)
            _ = try await fixture.finish(next, .completed([]))
            #expect(try await fixture.claimOne().id == failing)
        }
    }

    @Test func `a job whose process died keeps its place`() async throws {
        try await QueueFixture.run { fixture in
            let crashed = try await fixture.enqueue()
            // An earlier failure has no say in it.
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(broken))
            try await fixture.makeDue()
            let job = try await fixture.claimOne()
            #expect(job.id == crashed)
            _ = try await fixture.finish(job, .crashed(Failure(.crashed, "signal 11")))
            let newer = try await fixture.enqueue()
            try await fixture.makeDue()
            #expect(try await fixture.claim(2).map(\.id) == [crashed, newer])
        }
    }

    @Test func `the oldest waiting job is the one that has been ready longest, not the one pushed first`() async throws
    {
        try await QueueFixture.run { fixture in
            let keys = fixture.queue.keys
            let id = try await fixture.push(["delay": "3600"])
            _ = try await fixture.claim()
            // As if it had been pushed an hour before.
            let hour: Int64 = 3_600_000
            let before = try await fixture.now() - hour
            _ = try await fixture.client.send(["HSET", .text(keys.job(id)), "created", .integer(before)])
            _ = try await fixture.client.send(["ZADD", .text(keys.delayed), .integer(before + hour), .text(id)])
            _ = try await fixture.client.send(["HSET", .text(keys.job(id)), "due", .integer(before + hour)])
            try await fixture.queue.runMaintenance()
            #expect(try await fixture.state(id) == .waiting)
            #expect((0...30_000).contains(try #require(try await fixture.queue.stats().oldestWaiting)))
            let job = try await fixture.claimOne()
            for outcome: Jobs.Outcome in [.released, .failed(Failure(.noAudio, "x"))] {
                let current = outcome == .released ? job : try await fixture.claimOne()
                _ = try await fixture.finish(current, outcome)
                if outcome != .released { #expect(try await fixture.queue.retry([id]) == [.retried]) }
                #expect(
                    (0...30_000).contains(try #require(try await fixture.queue.stats().oldestWaiting)), "\(outcome)")
            }
            // One that stands behind may be ready for longer.
            let other = try await fixture.enqueue()
            _ = try await fixture.client.send(["HSET", .text(keys.job(other)), "created", .integer(before)])
            #expect(try #require(try await fixture.queue.stats().oldestWaiting) >= hour)
        }
    }
}
