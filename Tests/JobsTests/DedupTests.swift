import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct DedupTests {
    @Test func `a second job with the key is a duplicate of the first, however it is pushed`() async throws {
        try await QueueFixture.run { fixture in
            let first = try await fixture.enqueue(["dedup": "a key"])
            let jobs = [QueueFixture.job.merging(["dedup": "a key"]) { $1 }, QueueFixture.job]
            let answer = try await fixture.queue.enqueue(jobs)
            #expect(answer.map(\.isDuplicate) == [true, false] && answer[0].id == first)
            let pushed = try await fixture.push(["dedup": "a key"])
            #expect(try await fixture.claim(5).map(\.id) == [first, answer[1].id])
            #expect(try await fixture.record(pushed).id == first)
            #expect(try await fixture.queue.cancel([pushed]) == [.requested])
        }
    }

    @Test func `the second of two jobs with one key in one call is a duplicate`() async throws {
        try await QueueFixture.run { fixture in
            let job = QueueFixture.job.merging(["dedup": "k"]) { $1 }
            let answer = try await fixture.queue.enqueue([job, job, job])
            #expect(answer.map(\.isDuplicate) == [false, true, true] && Set(answer.map(\.id)).count == 1)
        }
    }

    @Test func `a repeated call gets the same answer, though the first job has finished`() async throws {
        try await QueueFixture.run { fixture in
            let keyed = QueueFixture.job.merging(["dedup": "k"]) { $1 }
            let first = try await fixture.push(["dedup": "k"])
            try await fixture.queue.runMaintenance()
            let answer = try await fixture.queue.enqueue(
                [QueueFixture.job, keyed, QueueFixture.job], nonce: "12345678")
            #expect(answer.map(\.isDuplicate) == [false, true, false] && answer[1].id == first)
            _ = try await fixture.queue.cancel([first])
            let again = try await fixture.queue.enqueue([QueueFixture.job, keyed, QueueFixture.job], nonce: "12345678")
            #expect(again == answer)
            #expect(try await fixture.queue.stats()[.waiting] == 2)
        }
    }

    @Test func `the ids of a maximum number of duplicates are kept, and the oldest are removed`() async throws {
        try await QueueFixture.run { fixture in
            let keys = fixture.queue.keys
            let fill: RedisCommand = [
                "EVAL", "for i = 1, 100000 do redis.call('ZADD', KEYS[1], i, i) end redis.call('SET', KEYS[2], 'x')",
                "2",
                .text(keys.prefix + "aliases"), .text(keys.alias("1")),
            ]
            _ = try await fixture.client.send(fill)
            let first = try await fixture.enqueue(["dedup": "k"])
            let pushed = try await fixture.push(["dedup": "k"])
            try await fixture.queue.runMaintenance()
            #expect(try await fixture.record(pushed).id == first)
            #expect(try await fixture.client.send(["ZCARD", .text(keys.prefix + "aliases")]).integer == 100_000)
            #expect(try await fixture.client.send(["EXISTS", .text(keys.alias("1"))]).integer == 0)
        }
    }

    @Test func `every terminal state frees the key`() async throws {
        try await QueueFixture.run { fixture in
            for outcome: Jobs.Outcome in [.completed([]), .failed(Failure(.noAudio, "x")), .cancelled] {
                let id = try await fixture.enqueue(["dedup": "k"])
                let job = try await fixture.claimOne()
                #expect(job.id == id)
                _ = try await fixture.finish(job, outcome)
            }
            let pushed = try await fixture.push(["dedup": "k"])
            #expect(try await fixture.claimOne().id == pushed)
        }
    }
}
