import Foundation
import JobSchema
import Redis
import TestSupport
import Testing

@testable import Jobs

/// What workers and commands of two versions, which serve one queue while they are updated, leave each other.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct VersionTests {
    /// Earlier ones had fewer words, later ones have more.
    @Test(arguments: [
        "7000 3 10000 2000 600000 3600000", "7000 3 10000 2000 600000 3600000 completed 0 1000",
        "7000 3 10000 2000 600000 3600000 completed 0 1000 failed 5 1000 cancelled 5 1000 called 5 1000 later 5 1000 x",
    ])
    func `settings that another version wrote apply`(line: String) async throws {
        try await QueueFixture.run { fixture in
            let ids = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 3)).map(\.id)
            let job = try await fixture.claimOne()
            _ = try await fixture.client.send([
                "HSET", .text(fixture.queue.keys.meta), "settings", .text(line),
            ])
            #expect(try await fixture.queue.publish(id: job.id, token: job.token, record: QueueFixture.commit) == .ok)
            let end = try await fixture.client.send(["ZSCORE", .text(fixture.queue.keys.lease), .text(job.id)])
            let now = try await fixture.client.send(["TIME"]).array?.first?.integer ?? 0
            #expect((Int64(end.string ?? "") ?? 0) / 1000 <= now + 7)
            #expect(
                try await fixture.finish(job, .completed([QueueFixture.report]))
                    == .acknowledged(.completed, retryAt: nil))
            #expect(try await fixture.queue.cancel([ids[1]]) == [.cancelled])
            #expect(try await fixture.queue.purge(.cancelled) == 1)
            #expect(try await fixture.beat([]).replies.isEmpty)
            #expect(try await fixture.claimOne().id == ids[2])
        }
    }

    @Test func `unknown fields are left alone, and unknown events are passed over`() async throws {
        try await QueueFixture.run { fixture in
            let keys = fixture.queue.keys
            let id = try await fixture.enqueue(["group": "g"])
            let places = [keys.meta, keys.job(id), keys.group("g")]
            for key in places { _ = try await fixture.client.send(["HSET", .text(key), "later", "x"]) }
            var feed = EventFeed(
                client: BlockingRedisClient(url: fixture.server.url, name: "feed"), name: fixture.queue.name)
            try await feed.open()
            _ = try await fixture.client.send([
                "XADD", .text(keys.events), "*", "n", "2", "id", .text(id), "state", "later", "colour", "red",
            ])
            _ = try await fixture.client.send(["HINCRBY", .text(keys.meta), "event", "1"])
            _ = try await fixture.finish(try await fixture.claimOne(), .failed(Failure(.noAudio, "silent")))
            #expect(try await fixture.queue.retry([id]) == [.retried])
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([QueueFixture.report]))
            for key in places { #expect(try await fixture.client.send(["HGET", .text(key), "later"]).string == "x") }
            let batch = try await feed.next()
            #expect(
                !batch.hasGap
                    && batch.events.map(\.state) == ["later", "running", "failed", "waiting", "running", "completed"])
        }
    }

    /// The script as a version has it that does not know some fields yet.
    private func older(_ script: RedisScript, without names: [String]) -> RedisScript {
        var text = String(decoding: script.source, as: UTF8.self)
        for name in names {
            #expect(text.contains("fields.\(name)"))
            text = text.replacing("fields.\(name)", with: "fields.unknown")
        }
        return RedisScript(name: script.name, source: Array(text.utf8))
    }

    @Test func `a retried job has all that it was pushed with, though an older script did not know the fields`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let queue = fixture.queue
            try await queue.setLimit(1, key: "k")
            let fields = [
                "priority": "high", "limit_key": "k", "attempts": "2", "dedup": "a key", "callback": "https://x.org/",
            ]
            let admit = older(QueueScript.admit, without: Array(fields.keys))
            let id = try await fixture.push(fields)
            _ = try await fixture.client.run(admit, keys: [queue.keys.meta], arguments: [])
            let refused = try await fixture.claimOne()
            #expect(refused.id == id && refused.attempts == 5)
            _ = try await fixture.finish(refused, .failed(Failure(.invalidRequest, "unknown field `limit_key`")))
            let usual = try await fixture.enqueue()
            #expect(try await queue.retry([id]) == [.retried])
            #expect(try await fixture.enqueue(["dedup": "a key"]) == id)
            let other = try await fixture.enqueue(["limit_key": "k", "priority": "high"])
            let jobs = try await fixture.claim(3)
            #expect(jobs.map(\.id) == [id, usual] && jobs[0].attempts == 2)
            #expect(try await queue.limits().keys.first { $0.name == "k" }?.parked == 1)
            #expect(try await fixture.finish(jobs[0], .completed([])) == .acknowledged(.completed, retryAt: nil))
            #expect(try await queue.claimCallbacks(count: 5).map { $0.subject.job } == [id])
            #expect(try await fixture.claimOne().id == other)
        }
    }
}
