import Jobs
import Redis
import SlotProtocol
import TestSupport
import Testing

/// What workers and commands of two versions, which serve one queue while they are updated, leave each other.
@Suite(.timeLimit(.minutes(1))) struct VersionTests {
    /// Earlier ones had fewer words, later ones have more.
    @Test(arguments: [
        "7000 3 10000 2000 600000 3600000", "7000 3 10000 2000 600000 3600000 completed 0 1000",
        "7000 3 10000 2000 600000 3600000 completed 0 1000 failed 5 1000 cancelled 5 1000 called 5 1000 later 5 1000 x",
    ])
    func `goes by settings that another version wrote`(line: String) async throws {
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
                try await fixture.finish(job, .completed([QueueFixture.report])) == .settled(.completed, retryAt: nil))
            #expect(try await fixture.queue.cancel([ids[1]]) == [.cancelled])
            #expect(try await fixture.queue.purge(.cancelled) == 1)
            #expect(try await fixture.beat([]).verdicts.isEmpty)
            #expect(try await fixture.claimOne().id == ids[2])
        }
    }

    @Test func `leaves alone what it does not know, and passes over what happens`() async throws {
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
}
