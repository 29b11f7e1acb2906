import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct RetryTests {
    @Test func `failed and cancelled jobs start afresh`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["priority": "high"])
            let job = try await fixture.claimOne()
            _ = try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit)
            _ = try await fixture.finish(job, .failed(Failure(.outputDenied, "read-only")), log: ["x"])
            let other = try await fixture.enqueue()
            _ = try await fixture.queue.cancel([other])
            let first = try await fixture.enqueue(["priority": "high"])
            #expect(try await fixture.queue.retry([id, other]) == [.retried, .retried])
            let record = try await fixture.record(id)
            #expect(record.state == .waiting && record.attempt == 0 && record.error == nil && record.startedAt == nil)
            #expect(try await fixture.queue.log(id) == [])
            let claimed = try await fixture.claim(3)
            #expect(claimed.map(\.id) == [first, id, other])
            #expect(claimed[1].attempt == 1 && claimed[1].commit == nil && claimed[1].token.hasPrefix("2:"))
        }
    }

    @Test func `other states, unknown ids and invalid specs are refused`() async throws {
        try await QueueFixture.run { fixture in
            let waiting = try await fixture.enqueue()
            let queued = try await fixture.push()
            #expect(
                try await fixture.queue.retry([waiting, queued, "1-2"])
                    == [.wrongState(.waiting), .wrongState(.queued), .unknown])
            let bad = try await fixture.push(["colour": "red"])
            let long = try await fixture.push(["output": String(repeating: "x", count: 20_000)])
            try await fixture.claimRight(5)
            let answers = try await fixture.queue.retry([bad, long])
            for answer in answers {
                guard case .invalid(let failure) = answer else { Issue.record("\(answer)"); continue }
                #expect(failure.code == .invalidRequest)
            }
        }
    }

    @Test func `a retry changes fields, checks the job anew, and takes its new place`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(1, key: "k")
            let id = try await fixture.enqueue(["bit_rate": "64k", "priority": "low"])
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(Failure(.noAudio, "x")))
            let waiting = try await fixture.enqueue()
            let refused = try await fixture.queue.retry([id], changes: ["format": "flac"])
            guard case .invalid(let failure)? = refused.first else { Issue.record("flac has no bit rate"); return }
            #expect(failure.code == .invalidRequest)
            #expect(try await fixture.state(id) == .failed)
            let changes = ["format": "flac", "bit_rate": "", "priority": "high", "attempts": "2", "limit_key": "k"]
            #expect(try await fixture.queue.retry([id], changes: changes) == [.retried])
            let jobs = try await fixture.claim(2)
            #expect(jobs.map(\.id) == [id, waiting] && jobs[0].attempts == 2)
            #expect(jobs[0].fields["format"] == "flac" && jobs[0].fields["bit_rate"] == nil)
            #expect(try await fixture.queue.limits().keys.first?.running == 1)
        }
    }

    @Test func `large changed specs are sent in several scripts`() async throws {
        try await QueueFixture.run { fixture in
            let long = "https://example.org/" + String(repeating: "x", count: 15_000)
            let ids = try await fixture.queue.enqueue(
                (0..<60).map { ["source": "\(long)\($0)", "format": "mp3"] }
            ).map(\.id)
            _ = try await fixture.queue.cancel(ids)
            let before = try await fixture.client.scriptCount()
            let answers = try await fixture.queue.retry(ids + ["1-1"], changes: ["priority": "high"])
            #expect(answers == Array(repeating: .retried, count: 60) + [.unknown])
            #expect(try await fixture.client.scriptCount() - before >= 3)
            #expect(try await fixture.claim(60).map(\.id) == ids)
        }
    }

    @Test func `an expired job runs when it is retried`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["expires": "2001-01-01T00:00:00Z"])
            #expect(try await fixture.claim().isEmpty)
            #expect(try await fixture.record(id).error?.code == .expired)
            #expect(try await fixture.queue.retry([id]) == [.retried])
            #expect(try await fixture.claimOne().id == id)
        }
    }

    @Test func `a retry takes the dedup key again, and is refused while another job has it`() async throws {
        try await QueueFixture.run { fixture in
            let first = try await fixture.enqueue(["dedup": "k"])
            _ = try await fixture.queue.cancel([first])
            let second = try await fixture.enqueue(["dedup": "k"])
            #expect(second != first)
            #expect(try await fixture.queue.retry([first]) == [.dedupHeld(by: second)])
            _ = try await fixture.queue.cancel([second])
            #expect(try await fixture.queue.retry([first, second]) == [.retried, .dedupHeld(by: first)])
            #expect(try await fixture.enqueue(["dedup": "k"]) == first)
        }
    }
}
