import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct MemoryTests {
    @Test func `a full Redis frees what it can, and refuses new jobs in plain words`() async throws {
        try await QueueFixture.run(options: ["maxmemory-policy": "noeviction"]) { fixture in
            _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 20))
            let jobs = try await fixture.claim(8)
            let lost = try await fixture.queue.claim(count: 1, worker: "gone").jobs[0]
            _ = try await fixture.client.send(["CONFIG", "SET", "maxmemory", "1"])
            let error = await #expect(throws: QueueError.self) { try await fixture.queue.enqueue([QueueFixture.job]) }
            #expect(error?.description.contains("out of memory") == true)
            await #expect(throws: RedisError.self) { try await fixture.push() }

            let kept = jobs[0]
            #expect(try await fixture.beat([kept]).replies == [kept.id: .ok])
            #expect(try await fixture.queue.publish(id: kept.id, token: kept.token, record: QueueFixture.commit) == .ok)
            let outcomes: [Jobs.Outcome] = [
                .completed([QueueFixture.report]), .failed(Failure(.noAudio, "x")), .failed(Failure(.timeout, "x")),
                .crashed(Failure(.crashed, "x")), .cancelled, .released,
            ]
            for (job, outcome) in zip(jobs, outcomes) {
                let answer = try await fixture.finish(job, outcome, log: ["x"])
                #expect(answer != .stale)
                // Nothing is freed by what was told before, and the answer is the same.
                #expect(try await fixture.finish(job, outcome) == answer)
            }
            let waiting = try await fixture.queue.list(state: .waiting, limit: 2).jobs.map(\.id)
            #expect(try await fixture.queue.cancel(waiting + [jobs[6].id]) == [.cancelled, .cancelled, .requested])
            _ = try await fixture.client.send(["CONFIG", "SET", "maxmemory", "0"])
            try await fixture.endLeases()
            _ = try await fixture.client.send(["CONFIG", "SET", "maxmemory", "1"])
            _ = try await fixture.beat([])
            #expect(try await fixture.state(lost.id) == .waiting)
            #expect(try await !fixture.claim(2).isEmpty)
            #expect(try await fixture.queue.purge(.failed) > 0)
            _ = try await fixture.client.send(["CONFIG", "SET", "maxmemory", "0"])
        }
    }

    @Test func `the queue warns of a server that may delete jobs`() async throws {
        try await QueueFixture.run { fixture in
            #expect(try await fixture.queue.configurationWarnings() == [])
            _ = try await fixture.client.send(["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"])
            let warnings = try await fixture.queue.configurationWarnings()
            #expect(warnings.count == 1 && warnings[0].contains("allkeys-lru"))
        }
    }

    @Test func `a waiting job takes at most 750 bytes`() async throws {
        try await QueueFixture.run { fixture in
            let url = "https://example.org/" + String(repeating: "x", count: 95) + ".flac"
            let count = 2000
            func used() async throws -> Int64 {
                let script =
                    "local s = redis.call('INFO','memory') return tonumber(string.match(s, 'used_memory_dataset:(%d+)'))"
                return try await fixture.client.send(["EVAL", .text(script), "0"]).integer ?? 0
            }
            _ = try await fixture.enqueue()
            let before = try await used()
            _ = try await fixture.queue.enqueue(Array(repeating: ["source": url, "format": "mp3"], count: count))
            let events =
                try await fixture.client.send(["MEMORY", "USAGE", .text(fixture.queue.keys.events), "SAMPLES", "0"])
                .integer ?? 0
            let each = (try await used() - before - events) / Int64(count)
            #expect(url.utf8.count == 120 && each <= 750, "\(each) bytes")
        }
    }

    @Test func `a result takes at most 256 KiB, and its least useful part is cut first`() async throws {
        try await QueueFixture.run { fixture in
            func stored(_ titles: Int, _ outputs: Int) async throws -> (bytes: Int64, outputs: [OutputReport]) {
                var report = QueueFixture.report
                report.warnings = Array(repeating: Warning(.tagsDropped, "x"), count: 500)
                report.titles = (0..<titles).map { TimedTitle(time: Double($0), title: "Somebody – Some Song") }
                let id = try await fixture.enqueue()
                let reports = Array(repeating: report, count: outputs)
                _ = try await fixture.finish(try await fixture.claimOne(), .completed(reports))
                let length = try await fixture.client.send(["STRLEN", .text(fixture.queue.keys.result(id))]).integer
                let kept = try await fixture.record(id).outputs
                return (length ?? 0, try #require(kept))
            }
            let station = try await stored(2000, 1)
            #expect(station.outputs[0].titles?.count == 2000 && station.outputs[0].warnings.isEmpty)
            let many = try await stored(500, 32)
            #expect(many.bytes <= 256 << 10 && many.outputs.count == 32 && many.outputs[31].titles == nil)
            #expect(many.outputs[31].sha256 == QueueFixture.report.sha256)
        }
    }
}
