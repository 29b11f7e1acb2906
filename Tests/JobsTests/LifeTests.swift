import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct LifeTests {
    @Test func `a pushed job is run to its end`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.push()
            #expect(try await fixture.state(id) == .queued)
            let job = try await fixture.claimOne()
            #expect(job.id == id)
            #expect(job.fields == QueueFixture.job)
            #expect(job.attempt == 1 && job.attempts == 5 && job.crashes == 0 && job.commit == nil)
            #expect(job.token.hasPrefix("1:"))
            #expect(try await fixture.state(id) == .running)
            let progress = Progress(phase: .converting, position: 30, duration: 120, fraction: 0.25, speed: 45, eta: 2)
            #expect(try await fixture.beat([job], progress: progress).replies == [id: .ok])
            let running = try await fixture.record(id)
            #expect(running.phase == .converting && running.progress == 0.25 && running.position == 30)
            #expect(running.duration == 120 && running.speed == 45 && running.eta == 2)
            #expect(running.worker == "host:1")
            #expect(
                try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit) == .ok)
            #expect(try await fixture.record(id).phase == .publishing)
            #expect(
                try await fixture.finish(job, .completed([QueueFixture.report]), log: ["one", "two"])
                    == .acknowledged(.completed, retryAt: nil))
            let record = try await fixture.record(id)
            #expect(record.state == .completed && record.outputs == [QueueFixture.report] && record.progress == 1)
            #expect(record.phase == nil && record.error == nil && record.finishedAt != nil)
            #expect(try await fixture.queue.log(id) == ["one", "two"])
        }
    }

    @Test func `a job can be pushed through the inbox`() async throws {
        try await QueueFixture.run { fixture in
            let fields = QueueFixture.job.merging(["start": "1:00"]) { $1 }
            let id = try await fixture.queue.push(fields)
            let job = try await fixture.claimOne()
            #expect(job.id == id && job.fields == fields)
            await #expect(throws: QueueError.self) { try await fixture.queue.push(["format": "mp3"]) }
        }
    }

    @Test func `an enqueued job gets an id that begins with its time`() async throws {
        try await QueueFixture.run { fixture in
            let first = try await fixture.queue.enqueue(
                [QueueFixture.job, QueueFixture.job], nonce: "0123456789abcdef")
            #expect(first.map(\.isDuplicate) == [false, false])
            #expect(first[0].id.contains(/^\d{13}-012345670$/))
            #expect(first[1].id.contains(/^\d{13}-012345671$/))
            let again = try await fixture.queue.enqueue(
                [QueueFixture.job, QueueFixture.job], nonce: "0123456789abcdef")
            #expect(again == first)
            #expect(try await fixture.queue.stats()[.waiting] == 2)
        }
    }

    @Test func `jobs that need several scripts are enqueued in order`() async throws {
        try await QueueFixture.run { fixture in
            let jobs = (0..<300).map { QueueFixture.job.merging(["start": "\($0)"]) { $1 } }
            let ids = try await fixture.queue.enqueue(jobs).map(\.id)
            #expect(Set(ids).count == 300)
            let claimed = try await fixture.claim(300)
            #expect(claimed.map(\.id) == ids)
            #expect(claimed.map { $0.fields["start"] } == (0..<300).map { "\($0)" })
        }
    }

    @Test func `no job is pushed if one is not valid`() async throws {
        try await QueueFixture.run { fixture in
            let error = await #expect(throws: QueueError.self) {
                try await fixture.queue.enqueue([QueueFixture.job, ["source": "https://x.org/a", "format": "xyz"]])
            }
            guard case .invalidJob(index: 1, let failure) = error else { throw error! }
            #expect(failure.code == .unsupportedFormat || failure.code == .invalidRequest)
            #expect(try await fixture.queue.stats()[.waiting] == 0)
        }
    }

    @Test func `any text of a job is kept as it was pushed`() async throws {
        try await QueueFixture.run { fixture in
            let text = "a \"b\" \\ / \u{1} \u{7f} \t\n é 漢 🎧 </script>"
            let id = try await fixture.push(["dedup": text])
            let other = try await fixture.enqueue(["dedup": text + "2"])
            let jobs = try await fixture.claim(2)
            #expect(jobs.map(\.id).sorted() == [id, other].sorted())
            #expect(Set(jobs.map { $0.fields["dedup"] }) == [text, text + "2"])
        }
    }

    @Test func `jobs are taken by priority, then in the order they came, also from behind a long inbox`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let low = try await fixture.enqueue(["priority": "low"])
            let normal = try await fixture.enqueue()
            var pushed: [String] = []
            for _ in 0..<150 { pushed.append(try await fixture.push()) }
            let high = try await fixture.push(["priority": "high"])
            let first = try await fixture.claimOne()
            #expect(first.id == high)
            let rest = try await fixture.claim(200).map(\.id)
            #expect(rest == [normal] + pushed + [low])
        }
    }

    @Test func `a delayed job waits until it is due`() async throws {
        try await QueueFixture.run { fixture in
            let delayed = try await fixture.push(["delay": "60.5"])
            let later = try await fixture.enqueue(["not_before": "2100-01-01T00:00:00Z"])
            let past = try await fixture.enqueue(["not_before": "2001-01-01T00:00:00Z"])
            let claim = try await fixture.queue.claim(count: 5, worker: QueueFixture.worker)
            #expect(claim.jobs.map(\.id) == [past])
            #expect((59_000...60_500).contains(try #require(claim.nextDue)))
            #expect((9_000...10_000).contains(try #require(claim.nextLease)))
            #expect(try await fixture.state(delayed) == .delayed)
            #expect(try await fixture.record(later).dueAt == 4_102_444_800_000)
            try await fixture.makeDue()
            #expect(Set(try await fixture.claim(5).map(\.id)) == [delayed, later])
        }
    }

    @Test func `a claim sweeps if the last sweep is old or too few jobs are ready, and else may claim without`()
        async throws
    {
        try await QueueFixture.run { fixture in
            func due() async throws -> String {
                let id = try await fixture.enqueue(["delay": "60", "priority": "high"])
                try await fixture.makeDue()
                return id
            }
            let ready = try await fixture.enqueue()
            let old = try await due()
            #expect(try await fixture.claimOne().id == old)
            let missing = try await due()
            try await fixture.letSweep(age: 0)
            #expect(try await fixture.claim(2).map(\.id) == [missing, ready])
            let next = try await fixture.enqueue()
            _ = try await due()
            try await fixture.letSweep(age: 0)
            #expect(try await fixture.claimOne().id == next)
        }
    }

    @Test func `a job that did not start before it expired is given up`() async throws {
        try await QueueFixture.run { fixture in
            let expired = try await fixture.enqueue(["expires": "2001-01-01T00:00:00Z"])
            let also = try await fixture.push(["expires": "0"])
            let fine = try await fixture.enqueue(["expires": "60"])
            #expect(try await fixture.claim(5).map(\.id) == [fine])
            for id in [expired, also] {
                let record = try await fixture.record(id)
                #expect(record.state == .failed && record.error?.code == .expired && record.error?.retryable == false)
            }
        }
    }
}
