import JobSchema
import Jobs
import Lifecycle
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct OutageTests {
    private func deadline(_ id: String, _ fixture: QueueFixture) async throws -> Int64 {
        try #require(
            try await fixture.client.send(["ZSCORE", .text(fixture.queue.keys.lease), .text(id)]).string.flatMap {
                Int64($0)
            })
    }

    @Test(arguments: [3500, 3_600_000, -5000])
    func `no job is charged when no heartbeat could arrive`(_ age: Int64) async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            try await fixture.endLeases()
            try await fixture.letSweep(age: age)
            let claim = try await fixture.queue.claim(count: 1, worker: "other")
            #expect(claim.jobs.isEmpty)
            #expect((9000...10_000).contains(try #require(claim.nextLease)))
            #expect(try await fixture.queue.claim(count: 1, worker: "other").jobs.isEmpty)
            #expect(try await fixture.beat([job]).replies == [id: .ok])
            #expect(try await fixture.record(id).crashes == 0)
        }
    }

    @Test func `a lease that stays silent through its term is reaped`() async throws {
        var settings = QueueSettings()
        settings.lease = .milliseconds(300)
        try await QueueFixture.run(settings: settings, clock: .running) { fixture in
            _ = try await fixture.claim()
            let id = try await fixture.enqueue()
            _ = try await fixture.claimOne()
            try await fixture.endLeases()
            try await fixture.letSweep(age: 5000)
            #expect(try await fixture.claim().isEmpty)
            try await eventually("the job is another's") {
                try await fixture.claim().map(\.id) == [id]
            }
            #expect(try await fixture.record(id).crashes == 1)
        }
    }

    @Test func `leases that a clock set back left far ahead are shortened`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            _ = try await fixture.claimOne()
            let now = try await fixture.now()
            _ = try await fixture.client.send([
                "ZADD", .text(fixture.queue.keys.lease), .text(String(now + 3_600_000)), .text(id),
            ])
            try await fixture.letSweep(age: -3_590_000)
            _ = try await fixture.beat([])
            #expect(try await deadline(id, fixture) <= now + 10_001)
        }
    }

    @Test func `a delay of the queue is no longer after the clock was set back, and an instant stays`() async throws {
        try await QueueFixture.run { fixture in
            let (queue, delay) = (fixture.queue, ["delay": "60"])
            let later = WallClock.timestamp(milliseconds: try await fixture.now() + 7_200_000)
            let given = [
                try await fixture.enqueue(delay), try await fixture.push(delay),
                try await fixture.enqueue(["not_before": later]), try await fixture.enqueue(delay),
            ]
            _ = try await queue.reschedule([given[3]], start: .notBefore(try await fixture.now() + 7_200_000))
            var failed: [String] = []
            for outcome: Jobs.Outcome in [
                .failed(Failure(.sourceUnreachable, "503", retryAfter: 50)), .crashed(Failure(.crashed, "dead")),
            ] {
                failed.append(try await fixture.enqueue())
                _ = try await fixture.finish(try await fixture.claimOne(), outcome)
            }
            let ids = given + failed
            let before = try await queue.jobs(ids).map { try #require($0?.dueAt) }
            try fixture.server.setClock(seconds: -3600)
            _ = try await fixture.beat([])
            let moved = zip(try await queue.jobs(ids), before).map { ($1 - ($0?.dueAt ?? 0) + 10) / 1000 }
            #expect(moved == [3600, 3600, 0, 0, 3600, 3600])
        }
    }

    @Test func `each of many delays is shortened`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.beat([])
            _ = try await fixture.queue.enqueue(
                Array(repeating: QueueFixture.job.merging(["delay": "60"]) { $1 }, count: 2000))
            try fixture.server.setClock(seconds: -3600)
            _ = try await fixture.beat([])
            try fixture.server.setClock(seconds: -3539)
            _ = try await fixture.beat([])
            #expect(try await fixture.queue.stats()[.waiting] == 2000)
        }
    }

    @Test func `a callback waits no longer after the clock was set back`() async throws {
        try await QueueFixture.run { fixture in
            let queue = fixture.queue
            for host in ["a", "b", "c"] {
                _ = try await fixture.enqueue(["callback": "https://\(host).org/"])
                _ = try await fixture.finish(try await fixture.claimOne(), .cancelled)
            }
            // One failed, one is being sent by a worker that is lost, and one was not sent, which is lost later.
            let taken = try await queue.claimCallbacks(count: 2)
            let outcome = CallbackOutcome.again("down", status: 503, retryAfter: 90)
            _ = try await queue.finishCallback(taken[0], outcome, after: .zero)
            for (seconds, count) in [(-3600, 1), (-3539, 2), (-3509, 1)] as [(Int64, Int)] {
                try fixture.server.setClock(seconds: seconds)
                _ = try await fixture.beat([])
                #expect(try await queue.claimCallbacks(count: 4).count == count, "at \(seconds)")
            }
        }
    }

    @Test func `an expired lease of a busy worker is reaped although heartbeats arrived`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.queue.enqueue([QueueFixture.job, QueueFixture.job])
            let jobs = try await fixture.claim(2)
            try await fixture.endLeases()
            #expect(try await fixture.beat([jobs[0]], worker: "h:2:x").replies == [jobs[0].id: .ok])
            #expect(try await fixture.state(jobs[0].id) == .running)
            let lost = try await fixture.record(jobs[1].id)
            #expect(lost.state == .waiting && lost.crashes == 1)
        }
    }

    @Test func `one call reaps at most sixteen leases`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 40))
            _ = try await fixture.claim(40)
            try await fixture.endLeases()
            _ = try await fixture.beat([])
            #expect(try await fixture.queue.stats()[.running] == 24)
            _ = try await fixture.beat([])
            _ = try await fixture.beat([])
            #expect(try await fixture.queue.stats()[.running] == 0)
        }
    }
}
