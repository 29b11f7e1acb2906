import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct JobCountsTests {
    @Test func `every change is counted, wherever it happens`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await fixture.queue.stats().lastDay.isNone)
            _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 4))
            try await fixture.push()
            try await fixture.push([QueueFixture.longName: ""])
            let jobs = try await fixture.claim(4)
            let outcomes: [Jobs.Outcome] = [
                .completed([]), .failed(Failure(.noAudio, "x")), .failed(Failure(.timeout, "x")),
                .crashed(Failure(.crashed, "x")),
            ]
            for (job, outcome) in zip(jobs, outcomes) { _ = try await fixture.finish(job, outcome) }
            // A repeated finish changes nothing, nor its counts.
            _ = try await fixture.finish(jobs[0], .completed([]))
            let waiting = try await fixture.queue.list(state: .waiting).jobs.map(\.id)
            #expect(try await fixture.queue.cancel(waiting) == [.cancelled])
            let stats = try await fixture.queue.stats()
            for counts in [stats.lastMinute, stats.lastHour, stats.lastDay] {
                #expect(counts.pushed == 6 && counts.completed == 1 && counts.failed == 2)
                #expect(counts.cancelled == 1 && counts.retries == 1 && counts.crashes == 1)
                #expect(counts.failureRate == 2.0 / 3)
            }
        }
    }

    @Test func `an hour's minutes and a day's hours are added up, and no older ones`() async throws {
        try await QueueFixture.run { fixture in
            let minute = try await fixture.now() / 60_000
            func count(_ key: String, _ number: Int64) async throws {
                let key = RedisArgument.text("\(fixture.queue.keys.prefix)stats:\(key)")
                _ = try await fixture.client.send(["HSET", key, "completed", .integer(number)])
                _ = try await fixture.client.send(["EXPIRE", key, "100"])
            }
            try await count("\(minute - 30)", 100)
            try await count("\(minute - 65)", 7)
            try await count("hour:\(minute / 60 - 5)", 2000)
            try await count("hour:\(minute / 60 - 30)", 7)
            let stats = try await fixture.queue.stats()
            #expect(stats.lastMinute.isNone)
            #expect(stats.lastHour.completed == 100 && stats.lastDay.completed == 2000)
            #expect(stats.lastHour.failureRate == 0)
        }
    }

    @Test func `an hour has how long the jobs had waited that started in it`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await fixture.queue.hourlyCounts(2).allSatisfy { $0.waiting == nil })
            _ = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            _ = try await fixture.finish(job, .released)
            _ = try await fixture.claimOne()
            // One of the last hour may be counted there, if an hour ends now.
            let counts = try await fixture.queue.hourlyCounts(2).compactMap(\.waiting)
            #expect(counts.reduce(0) { $0 + $1.count } == 2 && counts.allSatisfy { $0.p50 <= $0.p95 && $0.p95 < 60 })
            let hour = try await fixture.now() / 3_600_000 - 30
            let key = RedisArgument.text("\(fixture.queue.keys.prefix)stats:hour:\(hour)")
            // 90 waited less than 1 ms, 6 a second (bucket 20 ends at 1.02 s), 4 an hour.
            _ = try await fixture.client.send(["HSET", key, "pushed", "7", "w0", "90", "w20", "6", "w44", "4"])
            _ = try await fixture.client.send(["EXPIRE", key, "100"])
            let old = try #require(try await fixture.queue.hourlyCounts(32).first { $0.counts.pushed == 7 })
            #expect(old.waiting?.count == 100 && old.waiting?.p50 == 0)
            #expect((0.724...1.024).contains(old.waiting?.p95 ?? 0), "\(String(describing: old.waiting))")
        }
    }

    @Test func `a minute is removed after two hours and an hour after 31 days`() async throws {
        try await QueueFixture.run { fixture in
            for _ in 0..<3 { _ = try await fixture.enqueue() }
            let names = try await fixture.client.send(["KEYS", .text(fixture.queue.keys.prefix + "stats:*")])
            let keys = (names.array ?? []).compactMap(\.string)
            #expect(keys.count >= 2)
            for key in keys {
                let left = try await fixture.client.send(["TTL", .text(key)]).integer ?? 0
                let term: Int64 = key.contains(":hour:") ? 2_678_400 : 7200
                #expect((term - 60...term).contains(left), "\(key)")
            }
        }
    }
}
