import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct RepairTests {
    private let server: RedisServer
    private let client: RedisClient
    private let fixture: QueueFixture

    init() async throws {
        server = try await RedisServer(clock: .still)
        client = server.client()
        fixture = QueueFixture(server: server, client: client, queue: JobQueue(client: client))
    }

    private var queue: JobQueue { fixture.queue }

    /// Sends a command whose words may be keys: `@ready` is the queue's.
    private func send(_ words: String...) async throws {
        let arguments = words.map { word in
            RedisArgument.text(word.hasPrefix("@") ? queue.keys.prefix + word.dropFirst() : word)
        }
        _ = try await client.send(RedisCommand(arguments))
    }

    /// Repairs the queue, and expects that nothing is wrong then.
    @discardableResult
    private func repair() async throws -> QueueRepair.Report {
        #expect(try await QueueAudit(queue).lastingProblems(pause: .milliseconds(1)).sentences != [])
        let report = try await QueueRepair(queue, pause: .milliseconds(1)).run()
        let rest = try await QueueAudit(queue).lastingProblems(pause: .milliseconds(1)).sentences
        #expect(rest == [], "\(report)")
        #expect(!report.mended.isEmpty)
        return report
    }

    @Test func `jobs in wrong indexes, without indexes, or without a state run again, and none is lost`() async throws {
        _ = try await queue.enqueue(Array(repeating: QueueFixture.job, count: 10))
        let ids = try await queue.list(state: .waiting).jobs.map(\.id)
        try await send("ZREM", "@ready", ids[0])
        try await send("ZADD", "@done", "5", ids[1])
        try await send("SREM", "@live", ids[2])
        try await send("HSET", "@job:\(ids[3])", "state", "lost")
        try await send("DEL", "@job:\(ids[4])")
        try await send("HSET", "@job:\(ids[5])", "score", "1")
        try await send("HDEL", "@job:\(ids[6])", "score")
        try await send("HSET", "@job:\(ids[7])", "state", "running")
        try await send("PEXPIRE", "@job:\(ids[8])", "100000")
        try await send("DEL", "@job:\(ids[9])")
        try await send("ZREM", "@ready", ids[9])
        for index in ["@ready", "@delayed", "@lease", "@failed"] {
            try await send("ZADD", index, "9000000000000", "7-7")
        }
        try await send("SADD", "@live", "7-7")
        try await send("SET", "@result:9-9", "x")
        try await send("SET", "@dedup:k", ids[6])
        try await repair()
        let claimed = try await fixture.claim(20)
        #expect(Set(claimed.map(\.id)) == Set(ids) && claimed.count == 10)
        #expect(claimed.allSatisfy { $0.fields == QueueFixture.job })
        for job in claimed {
            #expect(try await fixture.finish(job, .completed([])) == .acknowledged(.completed, retryAt: nil))
        }
        #expect(try await QueueAudit(queue).problems() == [])
    }

    @Test func `jobs that ended keep their state, and running ones their owner`() async throws {
        _ = try await queue.enqueue(Array(repeating: QueueFixture.job, count: 5))
        let jobs = try await fixture.claim(5)
        _ = try await fixture.finish(jobs[0], .completed([]))
        _ = try await fixture.finish(jobs[1], .failed(Failure(.noAudio, "x")))
        _ = try await fixture.finish(jobs[2], .failed(Failure(.timeout, "x", retryAfter: 3600)))
        try await send("ZREM", "@done", jobs[0].id)
        try await send("PERSIST", "@spec:\(jobs[0].id)")
        try await send("HSET", "@job:\(jobs[0].id)", "cancel", "1", "commit", "1")
        try await send("HDEL", "@job:\(jobs[1].id)", "error", "error_code")
        try await send("ZADD", "@ready", "1", jobs[1].id)
        try await send("HDEL", "@job:\(jobs[2].id)", "due")
        try await send("ZREM", "@lease", jobs[3].id)
        try await send("SREM", "@live", jobs[3].id)
        try await send("HDEL", "@job:\(jobs[4].id)", "token")
        try await repair()
        let states = try await queue.jobs(jobs.map(\.id)).map { $0?.state }
        #expect(states == [.completed, .failed, .waiting, .running, .waiting], "\(states)")
        #expect(try await fixture.finish(jobs[3], .completed([])) == .acknowledged(.completed, retryAt: nil))
        #expect(try await fixture.finish(jobs[4], .completed([])) == .stale)
    }

    @Test func `groups, limits, the sequence and the bell are set right`() async throws {
        try await queue.setLimit(1, key: "h")
        let job = QueueFixture.job.merging(["group": "g", "limit_key": "h"]) { $1 }
        _ = try await queue.enqueue(Array(repeating: job, count: 5))
        let running = try await fixture.claimOne()
        let parked = try await queue.enqueue([job])[0].id
        let plain = try await queue.enqueue([QueueFixture.job, QueueFixture.job]).map(\.id)
        try await send("HINCRBY", "@group:g", "running", "7")
        try await send("HSET", "@group:g", "ended", "5")
        try await send("ZREM", "@group:g:ids", running.id)
        try await send("ZADD", "@group:g:ids", "1", plain[0])
        try await send("ZADD", "@group:lost:ids", "1", plain[0])
        try await send("SREM", "@limit:h", running.id)
        try await send("SADD", "@limit:k", plain[0])
        try await send("ZREM", "@parked:h", parked)
        try await send("ZADD", "@parked:k", "1", plain[1])
        try await send("ZADD", "@expiring", "9999999999999", plain[0])
        let score = try #require(try await client.send(["ZSCORE", .text(queue.keys.ready), .text(plain[0])]).string)
        try await send("ZADD", "@ready", score, plain[1])
        try await send("HSET", "@job:\(plain[1])", "score", score)
        try await send("HSET", "@meta", "seq", "1")
        try await send("HDEL", "@meta", "bell")
        try await send("SET", "@rate:h", "1")
        try await repair()
        let group = try #require(try await queue.group("g"))
        #expect(group.total == 6 && group[.running] == 1 && group[.waiting] == 5 && group.endedAt == nil)
        #expect(Set(try await fixture.claim(9).map(\.id)) == Set(plain))
        _ = try await fixture.finish(running, .completed([]))
        #expect(try await fixture.claim(9).count == 1)
    }

    @Test func `a job of a sealed group that lost its state stays a member, and waits no second delay`() async throws {
        let fields = QueueFixture.job.merging(["group": "g", "delay": "3600"]) { $1 }
        let id = try await queue.enqueue([fields])[0].id
        _ = try await queue.enqueue([QueueFixture.job.merging(["group": "g"]) { $1 }])
        _ = try await queue.seal("g")
        try await send("DEL", "@job:\(id)")
        try await repair()
        let group = try #require(try await queue.group("g"))
        #expect(group.total == 2 && group[.waiting] == 2 && group.endedAt == nil)
        #expect(try await fixture.claim(9).contains { $0.id == id && $0.fields == fields })
    }

    @Test func `a group that is too large for one script is counted, while nothing changes`() async throws {
        let job = QueueFixture.job.merging(["group": "g"]) { $1 }
        _ = try await queue.enqueue(Array(repeating: job, count: 10_001))
        let foreign = try await queue.enqueue([QueueFixture.job])[0].id
        try await send("HINCRBY", "@group:g", "waiting", "7")
        try await send("ZADD", "@group:g:ids", "1", foreign)
        let sentences = try await QueueRepair(queue).mend("group:g")
        #expect(
            sentences == [
                "\(foreign) was removed from group:g:ids: it is not a job of the group",
                "the group g counts 10001 jobs as waiting now, instead of 10008",
            ])
        let group = try await queue.group("g")
        #expect(group?.total == 10_001 && group?[.waiting] == 10_001, "\(String(describing: group))")
    }

    @Test func `callbacks and schedules are set right`() async throws {
        try await send("HSET", "@callback:1-a", "receiver", "r", "url", "https://r/")
        try await send("SADD", "@calling:r", "1-a")
        try await send("ZADD", "@callbacks:q", "1", "1-a")
        try await send("ZADD", "@callbacks", "9999999999999", "p")
        try await send("HSET", "@callback:2-b", "receiver", "r", "state", "failed", "token", "t")
        try await send("ZADD", "@called", "1", "3-c")
        _ = try await queue.putSchedule("s", try Recurrence("@daily", zone: "UTC"), fields: QueueFixture.job)
        try await send("ZADD", "@schedules", "9999999999999", "none")
        try await send("ZREM", "@schedules", "s")
        try await repair()
        #expect(try await queue.schedules().map(\.name) == ["s"])
        #expect(try await queue.schedule("s")?.next != nil)
    }

    @Test func `what cannot be mended is left as it is, with the reason`() async throws {
        let ids = try await queue.enqueue([QueueFixture.job, QueueFixture.job]).map(\.id)
        try await send("DEL", "@spec:\(ids[0])")
        try await send("SET", "@odd", "x")
        try await send("SET", "@job:5-5", "x")
        let report = try await QueueRepair(queue, pause: .milliseconds(1)).run()
        #expect(report.mended == [], "\(report)")
        #expect(
            report.left.contains("the fields of job \(ids[0]) are lost: cancel it, or let it fail when it is claimed"))
        #expect(report.left.contains("odd is no key of the queue: delete it if nothing else needs it"))
        #expect(report.left.contains { $0.hasPrefix("job:5-5 could not be mended: ") }, "\(report)")
        #expect(try await fixture.state(ids[1]) == .waiting)
    }

    @Test func `a repair beside workers changes nothing that is right`() async throws {
        let queue = queue
        try await queue.setLimit(8, key: "h")
        let hands = Task {
            var count = 0
            while !Task.isCancelled {
                let job = QueueFixture.job.merging(["group": "g", "limit_key": "h", "dedup": "d\(count)"]) { $1 }
                _ = try await queue.enqueue([job] + Array(repeating: QueueFixture.job, count: 9))
                for job in try await queue.claim(count: 10, worker: QueueFixture.worker).jobs {
                    guard
                        try await queue.finish(id: job.id, token: job.token, outcome: .completed([]))
                            == .acknowledged(.completed, retryAt: nil)
                    else { return -1 }
                    count += 1
                }
            }
            return count
        }
        for _ in 0..<3 {
            // Every key is mended, as if the audit had found it.
            for name in try await client.send(["KEYS", "*"]).array?.compactMap(\.string) ?? [] {
                _ = try await QueueRepair(queue).mend(String(name.dropFirst(queue.keys.prefix.count)))
            }
        }
        hands.cancel()
        #expect(try await hands.value > 0)
        while let job = try await fixture.claim().first { _ = try await fixture.finish(job, .completed([])) }
        #expect(try await QueueAudit(queue).problems() == [])
    }
}
