import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct AuditTests {
    private let server: RedisServer
    private let client: RedisClient
    private let fixture: QueueFixture

    init() async throws {
        server = try await RedisServer(clock: .still)
        client = server.client()
        fixture = QueueFixture(server: server, client: client, queue: JobQueue(client: client))
    }

    private var queue: JobQueue { fixture.queue }

    private func findings() async throws -> [String] {
        try await QueueAudit(queue).lastingProblems(pause: .milliseconds(1)).sentences
    }

    /// Sends a command whose words may be keys: `@ready` is the queue's.
    private func send(_ words: String...) async throws {
        let arguments = words.map { word in
            RedisArgument.text(word.hasPrefix("@") ? queue.keys.prefix + word.dropFirst() : word)
        }
        _ = try await client.send(RedisCommand(arguments))
    }

    @Test func `the audit finds nothing in a queue with jobs in every state`() async throws {
        #expect(try await findings() == [])
        _ = try await queue.enqueue(Array(repeating: QueueFixture.job, count: 1200))
        for outcome: Jobs.Outcome in [.completed([]), .failed(.init(.timeout, "x", retryAfter: 3600)), .cancelled] {
            _ = try await fixture.finish(try await fixture.claimOne(), outcome)
        }
        _ = try await fixture.claim(3)
        for _ in 0..<700 { try await fixture.push() }
        #expect(try await findings() == [])
        #expect(try await QueueAudit(queue).lastingProblems().keys > 2400)
    }

    @Test func `each job in a list that its state contradicts is named, and each key that belongs to nothing`()
        async throws
    {
        _ = try await queue.enqueue(Array(repeating: QueueFixture.job, count: 8))
        let ids = try await queue.list(state: .waiting).jobs.map(\.id)
        try await send("ZREM", "@ready", ids[0])
        try await send("ZADD", "@done", "5", ids[1])
        try await send("SREM", "@live", ids[2])
        try await send("HSET", "@job:\(ids[3])", "state", "lost")
        try await send("DEL", "@spec:\(ids[4])")
        try await send("DEL", "@job:\(ids[5])")
        try await send("SET", "@dedup:k", ids[6])
        try await send("HSET", "@job:\(ids[7])", "score", "1")
        try await send("SET", "@result:9-9", "x")
        try await send("SET", "@odd", "x")
        try await send("SADD", "@live", "7-7")
        let found = try await findings().joined(separator: "\n")
        for sentence in [
            "job \(ids[0]) is waiting and not in ready", "job \(ids[1]) is waiting and in done",
            "job \(ids[2]) is waiting, but not in live", "job \(ids[3]) has the state lost",
            "job \(ids[4]) is waiting: it has no spec", "ready contains \(ids[5]), which is not a job",
            "spec:\(ids[5]) belongs to no job",
            "dedup:k belongs to \(ids[6]), which is not an unfinished job with that key",
            "job \(ids[7]) is waiting: its score differs from the index", "result:9-9 belongs to no job",
            "odd is an unknown key", "live contains 7-7, which is not a job",
        ] { #expect(found.contains(sentence), "\(sentence)") }
    }

    @Test func `groups and limits that do not fit their jobs are named, in any number`() async throws {
        try await queue.setLimit(1, key: "h")
        let job = QueueFixture.job.merging(["group": "g", "limit_key": "h"]) { $1 }
        _ = try await queue.enqueue(Array(repeating: job, count: 1500))
        let running = try await fixture.claimOne()
        let parked = try await queue.enqueue([job])[0].id
        let before = try await findings()
        #expect(before == [])
        try await send("HINCRBY", "@group:g", "running", "1")
        try await send("ZREM", "@group:g:ids", running.id)
        try await send("SREM", "@limit:h", running.id)
        try await send("ZREM", "@parked:h", parked)
        try await send("ZADD", "@paced", "1", "slow")
        try await send("SET", "@rate:h", "1")
        let found = try await findings().joined(separator: "\n")
        for sentence in [
            "the group g counts 2 jobs as running, but has 0", "\(running.id) is not in its group g",
            "\(running.id) is running, but has no permit of h",
            "\(parked) is parked under h in its field or in the index, but not in both",
            "the next job of slow was due to start at 1970-01-01T00:00:00.001Z, and was not made ready",
            "rate:h never expires",
        ] { #expect(found.contains(sentence), "\(sentence)") }
    }

    @Test func `wrong entries of an index, a group, a limit or a schedule are named`() async throws {
        try await queue.setLimit(1, key: "h")
        _ = try await fixture.enqueue(["group": "g", "limit_key": "h"])
        _ = try await fixture.claimOne()
        _ = try await fixture.enqueue(["limit_key": "h"])
        let ids = try await queue.enqueue([QueueFixture.job, QueueFixture.job]).map(\.id)
        let before = try await findings()
        #expect(before == [])
        let score = try #require(try await client.send(["ZSCORE", .text(queue.keys.ready), .text(ids[0])]).string)
        try await send("ZADD", "@ready", score, ids[1])
        try await send("ZADD", "@ready", "17592186054416", ids[1] + "x")
        try await send("ZADD", "@expiring", "9999999999999", ids[0])
        try await send("ZADD", "@group:g:ids", "1", ids[0])
        try await send("DEL", "@limit:h")
        try await send("SADD", "@limit:k", ids[0])
        try await send("ZADD", "@parked:k", "1", ids[1])
        try await send("HDEL", "@meta", "bell")
        try await send("ZADD", "@schedules", "9999999999999", "none")
        try await send("HSET", "@schedule:late", "cron", "@daily")
        try await send("ZADD", "@group:lost:ids", "1", ids[0])
        let found = try await findings().joined(separator: "\n")
        for sentence in [
            "two jobs have the same position in ready: ",
            "ready has the sequence number 17592186054416, and the last is 4",
            "ready contains \(ids[1])x, which is not a job",
            "job \(ids[0]) expires at 9999999999999, which should be no time",
            "the group g contains \(ids[0]), which belongs to another group or none",
            "jobs are parked under h, but none runs or is ready", "\(ids[0]) holds a permit of k",
            "\(ids[1]) is parked under k", "but meta has none", "there are ready jobs, but no bell",
            "schedules contains none, which is not a schedule", "the schedule late has no due time",
            "the group lost has jobs, but no counts",
        ] { #expect(found.contains(sentence), "\(sentence) in \(found)") }
    }

    @Test func `callbacks in a list that their state contradicts are named`() async throws {
        try await send("HSET", "@callback:1-a", "receiver", "r", "url", "https://r/")
        try await send("SADD", "@calling:r", "1-a")
        try await send("ZADD", "@callbacks:q", "1", "1-a")
        try await send("ZADD", "@callbacks", "9999999999999", "p")
        try await send("HSET", "@callback:2-b", "receiver", "r", "state", "failed", "token", "t")
        try await send("ZADD", "@called", "1", "3-c")
        let found = try await findings()
        #expect(
            Set(found) == [
                "callback 1-a is pending, but is not in callbacks:r", "calling:r contains 1-a, which is not being sent",
                "callbacks:q contains 1-a, which does not belong there", "callbacks does not contain q",
                "callbacks contains p, for which no callback waits", "callback 2-b has finished, but is not in called",
                "callback 2-b has finished, but never expires", "callback 2-b has finished, but is being sent",
                "called contains 3-c, which does not exist",
            ])
    }

    @Test func `the findings of an entirely wrong queue are limited to a readable number`() async throws {
        let ids = (0..<11_000).map { RedisArgument.text("7-\($0)") }
        _ = try await client.send(RedisCommand(["SADD", .text(queue.keys.live)] + ids))
        let found = try await findings()
        #expect(
            found.count == 10_001 && found.last == "there may be more findings: only the first 10000 were examined")
    }

    @Test func `expired leases and overdue jobs are named, but not those that just became due`() async throws {
        _ = try await fixture.enqueue()
        let running = try await fixture.claimOne()
        let delayed = try await fixture.enqueue(["delay": "60"])
        try await fixture.endLeases()
        try await fixture.makeDue()
        let found = try await findings()
        #expect(found.count == 2)
        #expect(found.contains { $0.hasPrefix("job \(running.id): its lease expired at 1970-01-01T00:00:00.001Z") })
        #expect(found.contains { $0.hasPrefix("job \(delayed) was due at 1970") })
        _ = try await fixture.beat([])
        let before = try await findings()
        #expect(before == [])
    }

    @Test func `a queue at work does not mislead the audit`() async throws {
        let queue = queue
        try await queue.setLimit(8, key: "h")
        let hands = Task {
            while !Task.isCancelled {
                let job = QueueFixture.job.merging(["group": "g", "limit_key": "h"]) { $1 }
                _ = try await queue.enqueue(Array(repeating: job, count: 20))
                for job in try await queue.claim(count: 20, worker: QueueFixture.worker).jobs {
                    _ = try await queue.finish(id: job.id, token: job.token, outcome: .completed([]))
                }
            }
        }
        for _ in 0..<5 { #expect(try await findings() == []) }
        hands.cancel()
        _ = try? await hands.value
    }

    @Test func `the audit reads how the server is configured`() async throws {
        let info = try await queue.serverInfo()
        #expect(info.version.contains(".") && info.role == "master" && info.maxmemoryPolicy == "noeviction")
        #expect(!info.isAppendOnly && info.appendfsync == nil && info.failedWrites == [])
        // Redis 6.2 sets one at a time.
        _ = try await client.send(["CONFIG", "SET", "appendonly", "yes"])
        _ = try await client.send(["CONFIG", "SET", "appendfsync", "always"])
        #expect(try await queue.serverInfo().appendfsync == "always")
    }
}
