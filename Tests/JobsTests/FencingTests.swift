import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct FencingTests {
    @Test func `a repeated finish gets the first answer, whatever it says, and even after a new claim`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let first = try await fixture.claimOne()
            let failure = Failure(.sourceTimeout, "the server is slow")
            let answer = try await fixture.finish(first, .failed(failure))
            guard case .acknowledged(.delayed, .some) = answer else { Issue.record("\(answer)"); return }
            #expect(try await fixture.finish(first, .completed([])) == answer)
            try await fixture.makeDue()
            let second = try await fixture.claimOne()
            #expect(second.token.hasPrefix("2:") && second.attempt == 2)
            #expect(try await fixture.finish(first, .failed(failure)) == answer)
            #expect(try await fixture.state(id) == .running)
            #expect(try await fixture.finish(second, .completed([])) == .acknowledged(.completed, retryAt: nil))
            #expect(try await fixture.finish(second, .released) == .acknowledged(.completed, retryAt: nil))
            #expect(try await fixture.finish(first, .released) == .stale)
        }
    }

    @Test func `the token of a completed job gets its answer again, and that of a lost job gets none`() async throws {
        var settings = QueueSettings()
        settings.maxCrashes = 1
        try await QueueFixture.run(settings: settings) { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            for outcome: Jobs.Outcome in [.completed([]), .completed([]), .released, .failed(Failure(.internal, "x"))] {
                #expect(try await fixture.finish(job, outcome) == .acknowledged(.completed, retryAt: nil))
            }
            #expect(try await fixture.queue.finish(id: id, token: "1:x", outcome: .completed([])) == .stale)
            let lost = try await fixture.enqueue()
            let earlier = try await fixture.claimOne()
            try await fixture.endLeases()
            _ = try await fixture.beat([])
            #expect(try await fixture.state(lost) == .failed)
            for outcome: Jobs.Outcome in [.completed([]), .failed(Failure(.internal, "x"))] {
                #expect(try await fixture.finish(earlier, outcome) == .stale)
            }
        }
    }

    @Test func `one script finishes many attempts independently`() async throws {
        try await QueueFixture.run { fixture in
            for _ in 0..<70 { _ = try await fixture.enqueue() }
            let jobs = try await fixture.queue.claim(count: 70, worker: "w").jobs
            let failure = Failure(.unsupportedFormat, "no audio")
            var endings = jobs.map { Ending(id: $0.id, token: $0.token, outcome: .completed([]), log: ["ended"]) }
            endings[1] = Ending(id: jobs[1].id, token: jobs[1].token, outcome: .failed(failure))
            endings[2] = Ending(id: jobs[2].id, token: "1:x", outcome: .completed([]))
            endings[3] = Ending(id: jobs[3].id, token: jobs[3].token, outcome: .released)
            endings[4] = endings[0]
            var expected = Array(repeating: FinishAnswer.acknowledged(.completed, retryAt: nil), count: 70)
            expected[1] = .acknowledged(.failed, retryAt: nil)
            expected[2] = .stale
            expected[3] = .acknowledged(.waiting, retryAt: nil)
            #expect(try await fixture.queue.finish(endings) == expected)
            #expect(try await fixture.state(jobs[69].id) == .completed)
            #expect(try await fixture.state(jobs[4].id) == .running)
            #expect(try await fixture.queue.finish([]) == [])
        }
    }

    @Test func `a token that is not the job's changes nothing`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let old = try await fixture.claimOne()
            try await fixture.endLeases()
            let new = try await fixture.claimOne()
            #expect(new.id == id && new.token != old.token && new.crashes == 1 && new.attempt == 1)
            #expect(try await fixture.beat([old]).replies == [id: .lost])
            #expect(try await fixture.queue.publish(id: id, token: old.token, record: QueueFixture.commit) == .stale)
            for outcome: Jobs.Outcome in [
                .completed([]), .failed(Failure(.internal, "x")), .crashed(Failure(.crashed, "x")), .cancelled,
                .released,
            ] {
                #expect(try await fixture.finish(old, outcome) == .stale)
            }
            #expect(try await fixture.beat([new]).replies == [id: .ok])
            #expect(try await fixture.state(id) == .running)
            #expect(try await fixture.queue.finish(id: "1-1", token: "1:x", outcome: .released) == .stale)
        }
    }

    @Test func `a repeated claim gets the jobs that its worker still holds`() async throws {
        try await QueueFixture.run { fixture in
            for _ in 0..<5 { _ = try await fixture.enqueue() }
            let request = ClaimRequest()
            let first = try await fixture.queue.claim(request, count: 3, worker: "w").jobs
            let again = try await fixture.queue.claim(request, count: 3, worker: "w").jobs
            #expect(again == first && first.count == 3)
            _ = try await fixture.finish(first[1], .completed([]))
            let rest = try await fixture.queue.claim(request, count: 3, worker: "w").jobs
            #expect(rest == [first[0], first[2]])
            #expect(try await fixture.queue.stats()[.running] == 2)
        }
    }

    @Test func `each claim is kept for ten minutes, although the worker sends no beat`() async throws {
        try await QueueFixture.run { fixture in
            let key = RedisArgument.text(fixture.queue.keys.worker("w"))
            for _ in 0..<2 {
                _ = try await fixture.enqueue()
                #expect(try await fixture.queue.claim(ClaimRequest(), count: 1, worker: "w").jobs.count == 1)
                #expect((590_000...600_000).contains(try await fixture.client.send(["PTTL", key]).integer ?? 0))
                _ = try await fixture.client.send(["PEXPIRE", key, "5000"])
            }
        }
    }

    @Test func `a late duplicate of a claim takes no job`() async throws {
        try await QueueFixture.run { fixture in
            let (first, second) = (ClaimRequest(), ClaimRequest())
            for request in [first, second] {
                #expect(try await fixture.queue.claim(request, count: 1, worker: "w").jobs.isEmpty)
            }
            let id = try await fixture.enqueue()
            for request in [first, second] {
                #expect(try await fixture.queue.claim(request, count: 1, worker: "w").jobs.isEmpty)
            }
            #expect(try await fixture.queue.stats()[.waiting] == 1)
            // Requests of workers are counted apart, and kept for 10 minutes, also beyond their end.
            #expect(try await fixture.queue.claim(second, count: 1, worker: "other").jobs.map(\.id) == [id])
            _ = try await fixture.beat([], worker: "w")
            try await fixture.queue.removeWorker("w")
            #expect(try await fixture.queue.claim(first, count: 1, worker: "w").jobs.isEmpty)
            let key = RedisArgument.text(fixture.queue.keys.worker("w"))
            #expect(try await fixture.client.send(["HKEYS", key]).array?.compactMap(\.string) == ["claim"])
            #expect((590_000...600_000).contains(try await fixture.client.send(["PTTL", key]).integer ?? 0))
        }
    }

    @Test func `a job publishes only for its owner, and the next owner gets the commit record`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let first = try await fixture.claimOne()
            for _ in 1...2 {
                #expect(
                    try await fixture.queue.publish(id: id, token: first.token, record: QueueFixture.commit) == .ok)
            }
            #expect(try await fixture.finish(first, .released) == .publishing)
            #expect(try await fixture.finish(first, .cancelled) == .publishing)
            let progress = Progress(phase: .converting, position: 1)
            #expect(try await fixture.beat([first], progress: progress).replies == [id: .ok])
            #expect(try await fixture.record(id).phase == .publishing)
            try await fixture.endLeases()
            let second = try await fixture.claimOne()
            #expect(second.commit == QueueFixture.commit)
            _ = try await fixture.finish(second, .completed([QueueFixture.report]))
        }
    }

    @Test func `one exchange finishes many attempts independently`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 3))
            let jobs = try await fixture.claim(3)
            let endings = [
                Ending(id: jobs[0].id, token: jobs[0].token, outcome: .completed([])),
                Ending(id: jobs[1].id, token: "1:other", outcome: .completed([])),
                Ending(id: jobs[2].id, token: jobs[2].token, outcome: .released, log: ["x"]),
            ]
            let answers = try await fixture.queue.finish(endings)
            #expect(
                answers == [.acknowledged(.completed, retryAt: nil), .stale, .acknowledged(.waiting, retryAt: nil)])
            #expect(try await fixture.queue.finish(endings) == answers)
        }
    }

    @Test func `a heartbeat and a publication renew leases`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            try await fixture.endLeases()
            #expect(try await fixture.beat([job]).replies == [id: .ok])
            #expect(try await fixture.state(id) == .running)
            try await fixture.endLeases()
            _ = try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit)
            #expect(try await fixture.claim().isEmpty)
            #expect(try await fixture.state(id) == .running)
        }
    }
}
