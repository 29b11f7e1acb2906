import JobSchema
import Lifecycle
import Redis
import TestSupport
import Testing

@testable import Jobs

/// What one side packs, the other unpacks: each value is different, so none can take another's place.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct PackingTests {
    /// What Lua makes of packed options, by the names that it gives them.
    private func unpacked(_ fields: [String: String]) async throws -> [String: RedisValue] {
        let body = """
            -- require options
            local answer = { 'now', now }
            for name, value in pairs(unpack_options(ARGV[1])) do
              answer[#answer + 1] = name
              answer[#answer + 1] = type(value) == 'number' and string.format('%.0f', value) or value
            end
            return answer

            """
        let script = QueueScript.script("options", Array(body.utf8))
        let spec = try JobSpec(fields: QueueFixture.job.merging(fields) { $1 })
        let server = try await RedisServer()
        let reply = try await server.client().run(
            script, keys: ["respool:{test}:meta"], arguments: [.text(JobOptions.pack(spec))])
        return try #require(reply.dictionary)
    }

    private static let traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `the scripts read each option of a job as it was packed`() async throws {
        let options = try await unpacked([
            "priority": "low", "attempts": "7", "delay": "30", "expires": "2031-01-01T00:00:00Z", "deadline": "90",
            "group": "g", "limit_key": "k", "callback": "https://example.org/done", "dedup": "a key * of four words",
            "traceparent": Self.traceParent,
        ])
        let now = try #require(options["now"]?.integer)
        #expect(
            options.mapValues(\.string) == [
                "now": String(now), "rank": "2", "attempts": "7", "due": String(now + 30_000), "wait": "30000",
                "expires": "1924992000000", "deadline": String(now + 90_000), "group": "g", "limit_key": "k",
                "callback": "1", "dedup": "a key * of four words", "traceparent": Self.traceParent,
            ])
    }

    @Test func `the scripts read the usual priority of a job without options`() async throws {
        #expect(JobOptions.pack(try JobSpec(fields: QueueFixture.job)) == "")
        #expect(Set(try await unpacked([:]).keys) == ["now", "rank"])
        let named = try await unpacked(["attempts": "1"])
        #expect(Set(named.keys) == ["now", "rank", "attempts"] && named["rank"]?.string == "1")
    }

    @Test func `a worker reads each value of a job that it claims`() async throws {
        try await QueueFixture.run { fixture in
            let (queue, keys) = (fixture.queue, fixture.queue.keys)
            let id = try await fixture.enqueue(["attempts": "9"])
            _ = try await fixture.client.send([
                "HSET", .text(keys.job(id)), "attempt", "4", "crashes", "2", "token", "6:x", "created",
                "1700000000000", "commit", "1",
            ])
            let lost = try await fixture.claimOne()
            _ = try await queue.publish(id: id, token: lost.token, record: QueueFixture.commit)
            try await fixture.endLeases()
            let leases = try await queue.runMaintenance()
            #expect(leases == [LostLease(job: id, attempt: 5, worker: "host:1", state: .waiting)])
            let request = ClaimRequest(counter: 3, nonce: "nonce")
            let jobs = try await queue.claim(request, count: 1, worker: "other:2:x").jobs
            let expected = ClaimedJob(
                id: id, token: "8:nonce", attempt: 5, attempts: 9, crashes: 3,
                fields: QueueFixture.job.merging(["attempts": "9"]) { $1 }, createdAt: 1_700_000_000_000,
                commit: QueueFixture.commit)
            #expect(jobs == [expected])
        }
    }

    @Test func `a sender reads each value of a callback that it takes`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue(["callback": "https://example.org/done"])
            let job = try await fixture.claimOne()
            _ = try await fixture.finish(job, .completed([QueueFixture.report]))
            let ended = try #require(try await fixture.record(id).finishedAt)
            let callback = try #require(try await fixture.queue.claimCallbacks(count: 1, token: "token").first)
            #expect(callback.token == "token" && callback.attempt == 1 && callback.subject == .job(id))
            #expect(callback.what == "job.completed" && callback.url == "https://example.org/done")
            #expect(callback.at == ended && callback.takenAt >= ended && callback.id.hasPrefix("\(ended)-"))
            guard case .job(let record) = callback.content else { Issue.record("\(callback.content)"); return }
            #expect(record.id == id && record.state == .completed && record.outputs == [QueueFixture.report])
        }
    }
}
