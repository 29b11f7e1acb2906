import Foundation
import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ReadingTests {
    @Test func `every state is counted`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await fixture.queue.stats().oldestWaiting == nil)
            for outcome: Jobs.Outcome in [.completed([]), .failed(Failure(.noAudio, "x")), .cancelled] {
                _ = try await fixture.enqueue()
                _ = try await fixture.finish(try await fixture.claimOne(), outcome)
            }
            _ = try await fixture.enqueue()
            let running = try await fixture.claimOne()
            _ = try await fixture.enqueue(["delay": "60"])
            _ = try await fixture.enqueue()
            _ = try await fixture.beat([running])
            try await fixture.push()
            let stats = try await fixture.queue.stats()
            for state in JobState.allCases { #expect(stats[state] == 1, "\(state)") }
            #expect(stats.workers == 1 && stats.slots == 2 && !stats.isPaused)
            #expect((0...5000).contains(try #require(stats.oldestWaiting)))
        }
    }

    @Test func `the JSON of a job has every key, times in ISO 8601, and no secret`() async throws {
        try await QueueFixture.run { fixture in
            let secret = "https://user:pass@example.org/a.flac?signature=hush"
            let id = try await fixture.enqueue(["source": secret])
            let job = try await fixture.claimOne()
            #expect(job.fields["source"] == secret)
            let progress = Progress(
                phase: .converting, position: 126.1, duration: 300, fraction: 0.42, speed: 61.3, estimated: true,
                eta: 2.8, outputs: [.init(.converting, fraction: 0.42), .init(.failed, fraction: 0)])
            _ = try await fixture.beat([job], progress: progress)
            let data = try JSONEncoder().encode(try await fixture.record(id))
            let text = String(decoding: data, as: UTF8.self)
            #expect(!text.contains("hush") && !text.contains("pass"))
            let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let keys = [
                "id", "state", "phase", "progress", "position", "duration", "speed", "estimated", "eta", "attempt",
                "attempts",
                "crashes",
                "priority", "group", "source", "format", "worker", "created_at", "started_at", "finished_at", "outputs",
                "output_progress", "error", "due_at", "attempts_history", "traceparent",
            ]
            #expect(Set(json.keys) == Set(keys))
            #expect(json["state"] as? String == "running" && json["phase"] as? String == "converting")
            #expect(json["progress"] as? Double == 0.42 && json["position"] as? Double == 126.1)
            #expect(json["eta"] as? Double == 2.8 && json["estimated"] as? Bool == true)
            let outputs = try #require(json["output_progress"] as? [[String: Any]])
            #expect(outputs.map { $0["phase"] as? String } == ["converting", "failed"])
            #expect(outputs.map { $0["progress"] as? Double } == [0.42, 0])
            #expect(json["finished_at"] is NSNull && json["outputs"] is NSNull && json["group"] is NSNull)
            #expect((json["started_at"] as? String)?.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) == true)
        }
    }

    @Test func `only the spec has a secret of the source`() async throws {
        try await QueueFixture.run { fixture in
            let secret = "https://user:pass@example.org/a.flac?signature=hush"
            let ids = [try await fixture.enqueue(["source": secret]), try await fixture.push(["source": secret])]
            let bad = try await fixture.push(["source": secret, "colour": "red"])
            for job in try await fixture.claim(5) {
                _ = try await fixture.queue.publish(id: job.id, token: job.token, record: QueueFixture.commit)
                _ = try await fixture.finish(job, .completed([QueueFixture.report]))
            }
            let specs = Set((ids + [bad]).map { fixture.queue.keys.spec($0) })
            for key in try await fixture.client.send(["KEYS", "*"]).array ?? [] where !specs.contains(key.string ?? "")
            {
                let dump = try await fixture.client.send(["DUMP", .text(key.string ?? "")]).bytes ?? []
                #expect(!String(decoding: dump, as: UTF8.self).contains("hush"), "\(key)")
            }
        }
    }

    @Test func `each state is listed in its order, page by page`() async throws {
        try await QueueFixture.run { fixture in
            let ids = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 25)).map(\.id)
            var found: [String] = []
            var cursor: JobCursor?
            repeat {
                let page = try await fixture.queue.list(state: .waiting, limit: 10, cursor: cursor)
                found += page.jobs.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(found == ids)
            var ended: [String] = []
            for job in try await fixture.claim(9) {
                _ = try await fixture.finish(job, .completed([]))
                ended.append(job.id)
            }
            let page = try await fixture.queue.list(state: .completed, limit: 4)
            #expect(page.jobs.map(\.id) == ended.reversed().prefix(4).map { $0 })
            let next = try await fixture.queue.list(state: .completed, limit: 4, cursor: page.next)
            #expect(next.jobs.map(\.id) == ended.reversed()[4..<8].map { $0 })
            let pushed = try await fixture.push()
            #expect(try await fixture.queue.list(state: .queued).jobs.map(\.id) == [pushed])
            let all = try await fixture.queue.list(limit: 1000)
            #expect(all.next == nil && Set(all.jobs.map(\.id)) == Set(ids + [pushed]) && all.jobs.count == 26)
            #expect(all.jobs.first?.state == .waiting && all.jobs.last?.state == .completed)
        }
    }

    @Test func `finished jobs are listed by when they ended, whatever their outcome`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 11))
            var ended: [String] = []
            for (index, job) in try await fixture.claim(11).enumerated() {
                let outcomes: [Jobs.Outcome] = [.failed(Failure(.noAudio, "x")), .completed([]), .cancelled]
                _ = try await fixture.finish(job, outcomes[index * 5 % 7 % 3])
                ended.append(job.id)
            }
            for limit in [1, 3, 4, 100] {
                var found: [String] = []
                var cursor: JobCursor?
                repeat {
                    let page = try await fixture.queue.list(limit: limit, cursor: cursor)
                    found += page.jobs.map(\.id)
                    cursor = page.next
                } while cursor != nil
                #expect(found == ended.reversed(), "pages of \(limit)")
            }
        }
    }

    @Test func `a job in the inbox is shown, also one that will be refused`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.push(["source": "https://x.org/a?key=hush"])
            let bad = try await fixture.push(["colour": "red"])
            let records = try await fixture.queue.jobs([id, bad, "1-1", "no id", "5-5-5", ""])
            #expect(records[0]?.state == .queued && records[0]?.source == "https://x.org/a?…")
            #expect(records[1]?.state == .queued)
            #expect(records[2...].allSatisfy { $0 == nil })
        }
    }

    @Test func `a purge deletes jobs that do not run`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.queue.enqueue((0..<600).map { QueueFixture.job.merging(["dedup": "\($0)"]) { $1 } })
            let running = try await fixture.claimOne()
            for _ in 0..<3 { try await fixture.push() }
            #expect(try await fixture.queue.purge(.queued) == 3)
            #expect(try await fixture.queue.purge(.running) == 0)
            #expect(try await fixture.queue.purge(.waiting) == 500)
            #expect(try await fixture.queue.purge(.waiting) == 99)
            #expect(try await fixture.queue.purge(.waiting) == 0)
            _ = try await fixture.finish(running, .failed(Failure(.noAudio, "x")))
            #expect(try await fixture.queue.purge(.failed) == 1)
            #expect(
                try await fixture.client.send(["KEYS", .text(fixture.queue.keys.prefix + "*:1*-*")]).array?.isEmpty
                    == true)
        }
    }

    @Test func `workers are listed with their running jobs, and one that left is not`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            _ = try await fixture.beat([job])
            _ = try await fixture.beat([], worker: "h:2:x")
            let workers = try await fixture.queue.workers()
            #expect(workers.map(\.name) == ["h:2:x", QueueFixture.worker])
            #expect(workers[1].jobs == [job.id] && workers[1].slots == 2 && workers[1].version == "1")
            #expect((0...2000).contains(try #require(workers[1].silence)))
            try await fixture.queue.removeWorker("h:2:x")
            #expect(try await fixture.queue.workers().map(\.name) == [QueueFixture.worker])
            _ = try await fixture.finish(job, .released)
        }
    }

    @Test func `every change of state is an event, each with the next number`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.push()
            let job = try await fixture.claimOne()
            for step in 0...10 {
                let progress = Progress(phase: .converting, position: 1, fraction: Double(step) / 100)
                _ = try await fixture.beat([job], progress: progress)
            }
            _ = try await fixture.queue.publish(id: id, token: job.token, record: QueueFixture.commit)
            _ = try await fixture.finish(job, .completed([]))
            let entries =
                try await fixture.client.send(["XRANGE", .text(fixture.queue.keys.events), "-", "+"]).array ?? []
            let events = entries.compactMap { $0.array?.last?.dictionary }
            #expect(events.compactMap { $0["n"]?.integer } == Array(1...Int64(events.count)))
            let told = events.map { "\($0["state"]?.string ?? "") \($0["phase"]?.string ?? "")" }
            #expect(
                told == [
                    "waiting ", "running ", "running converting", "running converting", "running converting",
                    "running publishing", "completed ",
                ])
        }
    }
}
