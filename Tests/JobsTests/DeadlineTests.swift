import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

/// Jobs that time gives up.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct DeadlineTests {
    private static let past = "2001-01-01T00:00:00Z"

    @Test(arguments: ["expires", "deadline"])
    func `a waiting job is given up at its deadline without a claim, in any state`(_ field: String) async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(0, key: "k")
            try await fixture.queue.pause()
            let ids = [
                try await fixture.enqueue([field: Self.past]), try await fixture.push([field: "0"]),
                try await fixture.enqueue([field: Self.past, "delay": "3600"]),
                try await fixture.enqueue([field: Self.past, "limit_key": "k"]),
            ]
            let fine = try await fixture.enqueue([field: "3600"])
            _ = try await fixture.beat([])
            for id in ids { #expect(try await fixture.record(id).error?.code == .expired) }
            #expect(try await fixture.state(fine) == .waiting)
        }
    }

    @Test func `the worker of a running job learns of its deadline, and can no longer publish`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["deadline": "3600", "expires": "3600"])
            let job = try await fixture.claimOne()
            #expect(try await fixture.beat([job]).replies[id] == .ok)
            try await Self.pass(id, fixture)
            #expect(try await fixture.beat([job]).replies[id] == .expired)
            #expect(
                try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit) == .expired)
            let late = Failure(.expired, JobSpec.lateness)
            #expect(try await fixture.finish(job, .failed(late)) == .acknowledged(.failed, retryAt: nil))
            #expect(try await fixture.record(id).error?.code == .expired)
        }
    }

    @Test func `a result that is becoming visible at the deadline appears`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["deadline": "3600"])
            let job = try await fixture.claimOne()
            _ = try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit)
            try await Self.pass(id, fixture)
            #expect(try await fixture.beat([job]).replies[id] == .ok)
            // Its worker is lost: the next one must look whether the result is there.
            try await fixture.endLeases()
            _ = try await fixture.beat([])
            let again = try await fixture.claimOne()
            #expect(again.id == id && again.commit != nil)
            #expect(try await fixture.beat([again]).replies[id] == .ok)
            #expect(try await fixture.finish(again, .completed([])) == .acknowledged(.completed, retryAt: nil))
        }
    }

    @Test func `a job whose next attempt would come after its deadline fails, and a retry clears the deadline`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["deadline": "3600", "expires": "60"])
            let job = try await fixture.claimOne()
            _ = try await fixture.finish(job, .failed(Failure(.timeout, "slow")))
            #expect(try await fixture.state(id) == .delayed)
            try await Self.pass(id, fixture)
            _ = try await fixture.beat([])
            let record = try await fixture.record(id)
            #expect(record.error == Failure(.expired, JobSpec.lateness, retryable: false))
            #expect(try await fixture.queue.retry([id]) == [.retried])
            _ = try await fixture.beat([])
            #expect(try await fixture.claimOne().id == id)
        }
    }

    /// Lets a deadline be over.
    private static func pass(_ id: String, _ fixture: QueueFixture) async throws {
        let keys = fixture.queue.keys
        _ = try await fixture.client.send(["HSET", .text(keys.job(id)), "deadline", "1"])
        _ = try await fixture.client.send(["ZADD", .text(keys.prefix + "expiring"), "XX", "1", .text(id)])
    }
}
