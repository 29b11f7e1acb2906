import Jobs
import SlotProtocol
import Testing

@Suite(.timeLimit(.minutes(1))) struct DedupTests {
    @Test func `takes a second job with the key for the first, however it is pushed`() async throws {
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

    @Test func `takes one of two in the same call`() async throws {
        try await QueueFixture.run { fixture in
            let job = QueueFixture.job.merging(["dedup": "k"]) { $1 }
            let answer = try await fixture.queue.enqueue([job, job, job])
            #expect(answer.map(\.isDuplicate) == [false, true, true] && Set(answer.map(\.id)).count == 1)
        }
    }

    @Test func `frees the key in every terminal state`() async throws {
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
