import JobSchema
import Jobs
import Lifecycle
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct LimitTests {
    private func key(_ fixture: QueueFixture, _ name: String = "k") async throws -> KeyLimits.Key {
        try #require(try await fixture.queue.limits([name]).keys.first { $0.name == name })
    }

    @Test func `a key never runs more jobs than its limit, and other keys are not held up`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(2, key: "k")
            var ids: [String] = []
            for _ in 0..<6 { ids.append(try await fixture.enqueue(["limit_key": "k"])) }
            let free = try await fixture.enqueue(["priority": "low"])
            var running = try await fixture.claim(10)
            #expect(running.map(\.id) == [ids[0], ids[1], free])
            #expect(try await key(fixture) == .init(name: "k", number: 2, running: 2, parked: 4))
            #expect(try await fixture.queue.stats()[.waiting] == 4)
            let live = try await fixture.client.send(["SCARD", .text(fixture.queue.keys.live)]).integer
            #expect(live == 3)
            #expect(try await fixture.record(ids[2]).isParked)
            // One that is pushed while there is no place never stands in the way.
            ids.append(try await fixture.enqueue(["limit_key": "k"]))
            #expect(try await fixture.record(ids[6]).isParked)
            #expect(try await fixture.claim(10).isEmpty)
            for next in 2..<7 {
                _ = try await fixture.finish(running.removeFirst(), .completed([]))
                let claimed = try await fixture.claim(10)
                #expect(claimed.map(\.id) == [ids[next]])
                running.insert(contentsOf: claimed, at: 1)
            }
        }
    }

    @Test func `a job waits from when it is ready, and a parked one from when its key lets it run`() async throws {
        try await QueueFixture.run { fixture in
            let queue = fixture.queue
            let pushed = try await fixture.now() - 600_000
            for number in 0..<2 {
                _ = try await fixture.client.send([
                    "XADD", .text(queue.keys.inbox), .text("\(pushed)-\(number)"), "source", "s3://a/b", "format",
                    "mp3",
                    "limit_key", "k",
                ])
            }
            try await queue.setLimit(1, key: "k")
            let request = ClaimRequest()
            // The claim of a second job parks it.
            let first = try await queue.claim(request, count: 2, worker: "host:1:abc")
            let wait = try #require(first.waits.values.first)
            #expect(wait >= .seconds(600) && first.waits.count == 1)
            let repeated = try await queue.claim(request, count: 2, worker: "host:1:abc")
            #expect(repeated.jobs == first.jobs && repeated.waits.isEmpty)
            _ = try await fixture.finish(first.jobs[0], .completed([]))
            let parked = try await queue.claim(count: 1, worker: QueueFixture.worker)
            #expect(parked.jobs.map(\.id) == ["\(pushed)-1"])
            #expect(try #require(parked.waits.values.first) < .seconds(500))
        }
    }

    static let endings: [Jobs.Outcome] = [
        .completed([]), .failed(Failure(.noAudio, "x")), .failed(Failure(.timeout, "x")),
        .crashed(Failure(.crashed, "x")), .cancelled,
    ]

    @Test(arguments: endings)
    func `the end of any attempt passes its permit on, and rings the bell`(_ outcome: Jobs.Outcome) async throws {
        // The job that is tried again must not be back before the second one is claimed.
        var settings = QueueSettings()
        settings.backoff = Backoff(base: .seconds(86_400_000), cap: .seconds(86_400_000))
        try await QueueFixture.run(settings: settings) { fixture in
            try await fixture.queue.setLimit(1, key: "k")
            _ = try await fixture.enqueue(["limit_key": "k"])
            let second = try await fixture.enqueue(["limit_key": "k"])
            let job = try await fixture.claimOne()
            #expect(try await fixture.claim().isEmpty)
            // No bell hangs while only parked jobs wait.
            #expect(try await bells(fixture) == 0)
            _ = try await fixture.finish(job, outcome)
            #expect(try await bells(fixture) == 1)
            #expect(try await fixture.claimOne().id == second)
        }
    }

    private func bells(_ fixture: QueueFixture) async throws -> Int64 {
        try await fixture.client.send(["XLEN", .text(fixture.queue.keys.inbox)]).integer ?? -1
    }

    @Test func `a lost worker's permit is freed, and its job goes first`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(1, key: "k")
            let first = try await fixture.enqueue(["limit_key": "k"])
            let second = try await fixture.enqueue(["limit_key": "k"])
            _ = try await fixture.claimOne()
            #expect(try await fixture.claim().isEmpty)
            try await fixture.endLeases()
            #expect(try await fixture.claim(5).map(\.id) == [first])
            #expect(try await fixture.record(second).isParked)
            for _ in 0..<2 {
                try await fixture.endLeases()
                _ = try await fixture.beat([])
                _ = try await fixture.claim(5)
            }
            #expect(try await fixture.state(first) == .failed)
            #expect(try await fixture.state(second) == .running)
        }
    }

    @Test func `another job is called when a called one leaves without running`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(1, key: "k")
            var ids: [String] = []
            for _ in 0..<4 { ids.append(try await fixture.enqueue(["limit_key": "k"])) }
            let expired = try await fixture.enqueue([
                "limit_key": "k", "priority": "high", "expires": "2001-01-01T00:00:00Z",
            ])
            let job = try await fixture.queue.claim(count: 1, worker: QueueFixture.worker).jobs[0]
            #expect(job.id == ids[0])
            #expect(try await fixture.state(expired) == .failed)
            #expect(try await fixture.claim().isEmpty)
            // A parked one leaves no place; one that was called does.
            #expect(try await fixture.queue.cancel([ids[1]]) == [.cancelled])
            _ = try await fixture.finish(job, .completed([]))
            #expect(try await fixture.record(ids[2]).isParked == false)
            #expect(try await fixture.queue.cancel([ids[2]]) == [.cancelled])
            #expect(try await fixture.claimOne().id == ids[3])
        }
    }

    @Test func `the limit follows its number up and down, and all jobs go when it is removed`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(0, key: "k")
            let spec = QueueFixture.job.merging(["limit_key": "k"]) { $1 }
            _ = try await fixture.queue.enqueue(Array(repeating: spec, count: 20))
            #expect(try await fixture.claim(20).isEmpty)
            #expect(try await key(fixture).parked == 20)
            try await fixture.queue.setLimit(3, key: "k")
            let running = try await fixture.claim(20)
            #expect(running.count == 3)
            try await fixture.queue.setLimit(1, key: "k")
            for job in running.prefix(2) { _ = try await fixture.finish(job, .completed([])) }
            #expect(try await fixture.claim(20).isEmpty)
            _ = try await fixture.finish(running[2], .completed([]))
            #expect(try await fixture.claim(20).count == 1)
            try await fixture.queue.setLimit(nil, key: "k")
            #expect(try await fixture.claim(20).count == 16)
            #expect(try await key(fixture) == .init(name: "k", number: nil, running: 17, parked: 0))
        }
    }

    @Test func `every key without a number has the default limit`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(1, key: nil)
            try await fixture.queue.setLimit(2, key: "b")
            for name in ["a", "b", "c"] {
                for _ in 0..<4 { _ = try await fixture.enqueue(["limit_key": name]) }
            }
            let running = try await fixture.claim(20)
            #expect(running.map { $0.fields["limit_key"] } == ["a", "b", "b", "c"])
            // A raised default takes hold at once: three of `a`, and two more of `c`.
            try await fixture.queue.setLimit(3, key: nil)
            _ = try await fixture.finish(running[0], .completed([]))
            #expect(try await fixture.claim(20).count == 5)
        }
    }

    @Test func `parked jobs are called when the default is raised or removed`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(0, key: nil)
            try await fixture.queue.setLimit(0, key: "shut")
            func specs(_ key: String, _ count: Int) -> [[String: String]] {
                Array(repeating: QueueFixture.job.merging(["limit_key": key]) { $1 }, count: count)
            }
            _ = try await fixture.queue.enqueue(specs("shut", 600) + specs("a", 4) + specs("b", 2))
            #expect(try await fixture.claim(20).isEmpty)
            try await fixture.queue.setLimit(1, key: nil)
            #expect(try await fixture.claim(20).map { $0.fields["limit_key"] } == ["a", "b"])
            try await fixture.queue.setLimit(nil, key: nil)
            #expect(try await fixture.claim(20).count == 4)
            #expect(try await key(fixture, "shut").parked == 600)
        }
    }

    @Test func `jobs that wait for a default rate are called when that is removed`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setRate(1, key: nil)
            for name in ["a", "b", "a", "b"] { _ = try await fixture.enqueue(["limit_key": name]) }
            #expect(try await fixture.claim(20).count == 2)
            #expect(try await fixture.claim(20).isEmpty)
            try await fixture.queue.setRate(nil, key: nil)
            #expect(try await fixture.claim(20).count == 2)
        }
    }

    @Test func `a key starts no more jobs in a minute than its rate, evenly spaced`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            try await fixture.queue.setRate(600, key: "k")
            var ids: [String] = []
            for _ in 0..<4 { ids.append(try await fixture.enqueue(["limit_key": "k"])) }
            let free = try await fixture.enqueue(["priority": "low"])
            var taken: [String] = []
            while taken.count < 5 {
                let claim = try await fixture.queue.claim(count: 5, worker: QueueFixture.worker)
                taken += claim.jobs.map(\.id)
                #expect((claim.nextDue != nil) == (taken.count < 5) && claim.nextDue ?? 0 <= 100)
                try await Task.sleep(for: .milliseconds(claim.nextDue ?? 0))
            }
            #expect(taken.filter { $0 != free } == ids && taken[..<2].contains(free))
            let starts = try await fixture.queue.jobs(ids).compactMap { $0?.startedAt }
            for (one, next) in zip(starts, starts.dropFirst()) { #expect(next - one >= 100) }
        }
    }

    @Test(arguments: [true, false])
    func `a key with a rate starts jobs again at once after the clock was set back`(isParked: Bool) async throws {
        try await QueueFixture.run { fixture in
            let (keys, hour) = (fixture.queue.keys, Int64(3_600_000))
            try await fixture.queue.setRate(60, key: "k")
            for _ in 0..<(isParked ? 2 : 1) { _ = try await fixture.enqueue(["limit_key": "k"]) }
            #expect(try await fixture.claim(2).count == 1)
            // The clock is that of an hour ago.
            let far = RedisArgument.integer(try await fixture.now() + hour)
            _ = try await fixture.client.send(["SET", .text(keys.prefix + "rate:k"), far, "KEEPTTL"])
            if isParked { _ = try await fixture.client.send(["ZADD", .text(keys.prefix + "paced"), far, "k"]) }
            try await fixture.letSweep(age: -hour)
            _ = try await fixture.beat([])
            if !isParked { _ = try await fixture.enqueue(["limit_key": "k"]) }
            let claim = try await fixture.queue.claim(count: 1, worker: QueueFixture.worker)
            #expect(claim.jobs.isEmpty && (1...1000).contains(claim.nextDue ?? 0), "\(claim)")
        }
    }

    @Test func `the rate holds whatever becomes of the jobs, and all jobs go without one`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setRate(1, key: "k")
            for _ in 0..<4 { _ = try await fixture.enqueue(["limit_key": "k"]) }
            let first = try await fixture.claim(4)
            #expect(first.count == 1)
            _ = try await fixture.finish(first[0], .completed([]))
            let claim = try await fixture.queue.claim(count: 4, worker: QueueFixture.worker)
            #expect(claim.jobs.isEmpty && (1...60_000).contains(claim.nextDue ?? 0))
            #expect(try await key(fixture) == .init(name: "k", number: nil, rate: 1, running: 0, parked: 3))
            try await fixture.queue.setRate(nil, key: "k")
            #expect(try await fixture.claim(4).count == 3)
        }
    }

    @Test func `a claim passes over any number of jobs without a permit`() async throws {
        try await QueueFixture.run { fixture in
            let spec = QueueFixture.job.merging(["limit_key": "k", "priority": "high"]) { $1 }
            _ = try await fixture.queue.enqueue(Array(repeating: spec, count: 200))
            try await fixture.queue.setLimit(0, key: "k")
            let free = try await fixture.enqueue()
            // Each call of the script parks 64 and its count, and says that there is more.
            #expect(try await fixture.claim().map(\.id) == [free])
            #expect(try await fixture.queue.list(state: .waiting, limit: 500).jobs.count == 200)
            #expect(try await fixture.queue.purge(.waiting) == 200)
        }
    }
}
