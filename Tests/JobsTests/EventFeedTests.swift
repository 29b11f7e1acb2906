import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct EventFeedTests {
    private let server: RedisServer
    private let queue: JobQueue

    init() async throws {
        server = try await RedisServer(["appendonly": "yes", "appendfsync": "always"])
        queue = JobQueue(client: server.client())
    }

    private func feed() async throws -> EventFeed {
        var feed = EventFeed(client: BlockingRedisClient(url: server.url, name: "feed"))
        try await feed.open()
        return feed
    }

    private func enqueue(_ count: Int) async throws -> [String] {
        try await queue.enqueue(Array(repeating: QueueFixture.job, count: count)).map(\.id)
    }

    /// Reads until as many events came, with whatever fails in between.
    private func read(_ count: Int, _ feed: inout EventFeed) async throws -> (events: [QueueEvent], hasGap: Bool) {
        var (events, hasGap): ([QueueEvent], Bool) = ([], false)
        for _ in 0..<60 where events.count < count {
            let batch = try await next(&feed)
            events += batch.events
            hasGap = hasGap || batch.hasGap
        }
        return (events, hasGap)
    }

    /// The next batch; a wait that a busy machine answers too late throws, and is repeated.
    private func next(_ feed: inout EventFeed) async throws -> EventFeed.Batch {
        while true {
            do throws(QueueError) { return try await feed.next() } catch {
                guard error.isTransient else { throw error }
            }
        }
    }

    @Test func `a feed delivers every change since it was opened, in order`() async throws {
        _ = try await enqueue(3)
        var feed = try await feed()
        let ids = try await enqueue(1200)
        try await queue.pause()
        let (events, hasGap) = try await read(1201, &feed)
        #expect(!hasGap)
        #expect(events.map(\.id) == ids + [""] && events.last?.state == "paused")
        #expect(events.map(\.number) == Array(4...1204))
        #expect(try await next(&feed).events == [])
    }

    @Test func `a feed that was not opened reports a gap at its start`() async throws {
        var feed = EventFeed(client: BlockingRedisClient(url: server.url, name: "feed"))
        _ = try await enqueue(1)
        let batch = try await next(&feed)
        #expect(batch.hasGap && batch.events.isEmpty)
        let ids = try await enqueue(1)
        let (events, hasGap) = try await read(1, &feed)
        #expect(events.map(\.id) == ids && !hasGap)
    }

    @Test func `a feed resumes where it was after its connection and the server were lost`() async throws {
        var feed = try await feed()
        var ids = try await enqueue(2)
        #expect(try await read(2, &feed).events.map(\.id) == ids)
        ids = try await enqueue(2)
        _ = try await server.client().send(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
        ids += try await enqueue(2)
        try await server.restart()
        ids += try await JobQueue(client: server.client()).enqueue([QueueFixture.job]).map(\.id)
        let (events, hasGap) = try await read(5, &feed)
        #expect(!hasGap && events.map(\.id) == ids)
    }

    @Test func `a feed reports that it missed events`() async throws {
        var feed = try await feed()
        _ = try await enqueue(5)
        _ = try await server.client().send(["XTRIM", .text(queue.keys.events), "MAXLEN", "3"])
        let (events, hasGap) = try await read(3, &feed)
        #expect(hasGap && events.map(\.number) == [3, 4, 5])
        _ = try await enqueue(1)
        #expect(try await !read(1, &feed).hasGap)
    }

    @Test func `a feed reports that the queue was recreated`() async throws {
        _ = try await enqueue(5)
        var feed = try await feed()
        _ = try await server.client().send(["FLUSHALL"])
        #expect(try await next(&feed).hasGap)
        let ids = try await enqueue(1)
        let (events, hasGap) = try await read(1, &feed)
        #expect(!hasGap && events.map(\.id) == ids)
    }
}
