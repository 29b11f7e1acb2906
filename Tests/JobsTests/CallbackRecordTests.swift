import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// Callbacks as they are listed.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CallbackRecordTests {
    @Test func `records show pending and finished callbacks, without secrets`() async throws {
        try await QueueFixture.run { fixture in
            for host in ["a.org", "b.org", "c.org"] {
                _ = try await fixture.enqueue(["callback": "http://u:secret@\(host)/x?secret"])
                _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            }
            let callbacks = try await fixture.queue.claimCallbacks(count: 2)
            _ = try await fixture.queue.finishCallback(
                callbacks[0], .refused("gone", status: 410), after: .milliseconds(8))
            let records = try await fixture.queue.callbacks(limit: 50)
            #expect(records.map(\.state) == [.waiting, .sending, .failed])
            #expect(records.map(\.url) == ["http://c.org/x?…", "http://b.org/x?…", "http://a.org/x?…"])
            #expect(records[0].dueAt != nil && records[2].log.count == 1)
            let line = try #require(records[2].log.first)
            #expect(line.status == 410 && line.took == 8 && line.message == "gone")
            #expect(try await fixture.queue.callbacks(limit: 1).count == 1)
            // The first due of all, though another receiver comes first and could fill the page.
            let keys = fixture.queue.keys
            for (receiver, times) in [("y.org", [10, 30, 40]), ("z.org", [20, 50])] {
                for time in times {
                    _ = try await fixture.client.send([
                        "HSET", .text(keys.callback("c\(time)")), "what", "job.failed", "job", "1-1", "url",
                        "http://x/",
                        "receiver", .text(receiver), "at", "1",
                    ])
                    _ = try await fixture.client.send([
                        "ZADD", .text(keys.callbacks(receiver)), .text("\(time)"), .text("c\(time)"),
                    ])
                }
                _ = try await fixture.client.send([
                    "ZADD", .text(keys.callbacks), .text("\(times[0])"), .text(receiver),
                ])
            }
            #expect(try await fixture.queue.callbacks(limit: 3).map(\.id) == ["c10", "c20", "c30"])
        }
    }
}
