import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ReplyTests {
    private static func key(_ fingerprint: String) -> JobQueue.ReplyKey {
        JobQueue.ReplyKey("name", fingerprint: fingerprint)
    }

    @Test func `a key is reserved for one request, and its response is stored`() async throws {
        try await QueueFixture.run { fixture in
            let (queue, first) = (fixture.queue, Self.key("a"))
            #expect(try await queue.reserveReply(first) == .reserved)
            #expect(try await queue.reserveReply(Self.key("a")) == .inProgress)
            #expect(try await queue.reserveReply(Self.key("b")) == .otherRequest)
            try await queue.storeReply(first, "201 {}")
            #expect(try await queue.reserveReply(Self.key("a")) == .stored("201 {}"))
            #expect(try await queue.reserveReply(Self.key("b")) == .otherRequest)
        }
    }

    @Test func `a request that was overtaken changes nothing of the next one`() async throws {
        try await QueueFixture.run { fixture in
            let (queue, first, second) = (fixture.queue, Self.key("a"), Self.key("a"))
            let key = RedisArgument.text(queue.keys.reply("name"))
            #expect(try await queue.reserveReply(first) == .reserved)
            let since = try #require(try await fixture.client.send(["HGET", key, "since"]).integer)
            _ = try await fixture.client.send(["HSET", key, "since", .integer(since - 11_000)])
            #expect(try await queue.reserveReply(Self.key("b")) == .otherRequest)
            #expect(try await queue.reserveReply(second) == .reserved)
            try await queue.storeReply(first, "201 first")
            try await queue.removeReply(first)
            #expect(try await queue.reserveReply(Self.key("a")) == .inProgress)
            try await queue.releaseReply(second)
            #expect(try await queue.reserveReply(first) == .reserved)
            try await queue.removeReply(first)
            #expect(try await queue.reserveReply(Self.key("b")) == .reserved)
        }
    }
}
