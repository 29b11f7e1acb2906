import FoundationEssentials
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// The accounts that `docs/queue.md` shows, on a real server.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct AccessTests {
    /// Runs the body with a client of the account, and one that may do everything.
    private func run(
        as user: String, _ body: (JobQueue, RedisClient, JobQueue, RedisClient) async throws -> Void
    ) async throws {
        let server = try await RedisServer()
        let all = server.client()
        for line in try Self.accounts() { _ = try await all.send(RedisCommand(line.map { .text($0) })) }
        let url = try RedisURL("unix://\(user):secret@\(server.socket)")
        let client = RedisClient(url: url, name: user, timeout: .seconds(60))
        let (own, free) = (JobQueue(client: client), JobQueue(client: all))
        try await body(own, client, free, all)
        #expect(try await QueueAudit(free).problems() == [])
    }

    private static func accounts() throws -> [[String]] {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/queue.md")
        let text = String(decoding: try Data(contentsOf: page), as: UTF8.self).components(separatedBy: " \\\n").joined()
        return text.split(separator: "\n").filter { $0.hasPrefix("redis-cli ACL SETUSER ") }
            .map { $0.split(separator: " ").dropFirst().map { $0.filter { $0 != "'" } } }
    }

    @Test func `a worker may call each command that the scripts call`() throws {
        let line = try #require(try Self.accounts().first { $0[2] == "worker" })
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Jobs/Scripts")
        var called: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
            for match in text.matches(of: /call\(\'([A-Z]+)\'(?:, \'(USAGE)\')?/) {
                called.insert("+" + match.1.lowercased() + (match.2.map { "|" + $0.lowercased() } ?? ""))
            }
        }
        #expect(called.count > 20)
        #expect(called.subtracting(line) == [])
    }

    private func expectRefusals(_ client: RedisClient, _ commands: [RedisCommand]) async {
        for command in commands {
            let error = await #expect(throws: RedisError.self, "\(command)") { try await client.send(command) }
            #expect(error?.isServer("NOPERM") == true, "\(String(describing: error))")
        }
    }

    private static let foreign: [RedisCommand] = [
        ["FLUSHALL"], ["KEYS", "*"], ["CONFIG", "GET", "*"], ["ACL", "LIST"], ["SET", "other", "x"], ["GET", "other"],
        ["XADD", "respool:{other}:in", "*", "a", "b"], ["CLIENT", "LIST"], ["SCRIPT", "FLUSH"], ["SHUTDOWN"],
    ]

    @Test func `a worker's account may do all that respool does and nothing else`() async throws {
        try await run(as: "worker") { queue, client, _, _ in
            #expect(try await queue.configurationWarnings() == [])
            let ids = try await queue.enqueue(Array(repeating: QueueFixture.job, count: 8)).map(\.id)
            _ = try await queue.push(QueueFixture.job)
            _ = try await queue.enqueue([QueueFixture.job.merging(["dedup": "x", "delay": "60"]) { $1 }])
            let jobs = try await queue.claim(count: 4, worker: QueueFixture.worker).jobs
            let record = WorkerRecord(name: QueueFixture.worker, host: "host", slots: 2, version: "1")
            _ = try await queue.beat(
                worker: record, jobs: jobs.map { Heartbeat(id: $0.id, token: $0.token, progress: nil) })
            let durable = JobQueue(client: client, replicas: ReplicaWait(replicas: 0, timeout: .milliseconds(10)))
            _ = try await durable.publish(id: jobs[0].id, token: jobs[0].token, record: QueueFixture.commit)
            let outcomes: [Jobs.Outcome] = [
                .completed([QueueFixture.report]), .failed(Failure(.noAudio, "x")), .crashed(Failure(.crashed, "x")),
                .released,
            ]
            for (job, outcome) in zip(jobs, outcomes) {
                _ = try await queue.finish(id: job.id, token: job.token, outcome: outcome, log: ["x"])
            }
            _ = try await queue.cancel([ids[5]])
            _ = try await queue.retry([ids[5], jobs[1].id])
            try await queue.pause()
            try await queue.resume()
            try await queue.runMaintenance()
            try await queue.ring()
            _ = try await queue.stats()
            _ = try await queue.list(state: .waiting, limit: 10)
            _ = try await queue.jobs(ids)
            _ = try await queue.log(jobs[0].id)
            _ = try await queue.workers()
            _ = try await queue.purge(.completed)
            let daily = try Recurrence("@daily", zone: "UTC")
            #expect(try await queue.putSchedule("s", daily, fields: QueueFixture.job))
            let schedule = try #require(try await queue.schedules().first)
            #expect(try await queue.setSchedule(schedule, isPaused: true))
            #expect(try await queue.runSchedule(schedule) != nil)
            #expect(try await queue.runDueSchedules().isEmpty)
            #expect(try await queue.removeSchedule("s"))
            try await queue.removeWorker(QueueFixture.worker)
            #expect(try await QueueAudit(queue).problems() == [])
            await expectRefusals(client, Self.foreign)
        }
    }

    @Test func `a worker waits at the doorbell`() async throws {
        let server = try await RedisServer()
        for line in try Self.accounts() { _ = try await server.client().send(RedisCommand(line.map { .text($0) })) }
        let url = try RedisURL("unix://worker:secret@\(server.socket)")
        let bell = Doorbell(client: BlockingRedisClient(url: url, name: "bell"))
        #expect(try await bell.wait(for: .milliseconds(1)) == .rang)
        #expect(try await bell.wait(for: .milliseconds(1)) == .timeout)
    }

    @Test func `a producer may push, and cancel what no worker has seen, and nothing else`() async throws {
        try await run(as: "producer") { queue, client, free, all in
            let id = try await queue.push(QueueFixture.job)
            #expect(try await free.jobs([id])[0]?.state == .queued)
            let inbox = RedisArgument(free.keys.inbox)
            await expectRefusals(
                client,
                Self.foreign + [
                    ["XRANGE", inbox, "-", "+"], ["XDEL", inbox, .text(id)], ["DEL", inbox], ["EVAL", "return 1", 0],
                    ["HGETALL", .text(free.keys.job(id))], ["HSET", .text(free.keys.meta), "paused", 1], ["INFO"],
                ])
            // What the page says that it can still do.
            _ = try await client.send(["XADD", inbox, "MAXLEN", 0, "*", "source", "x"])
            #expect(try await free.jobs([id])[0] == nil)
            _ = try await all.send(["XTRIM", inbox, "MAXLEN", 0])
        }
    }

    @Test func `a watcher sees everything of the queue, and changes nothing`() async throws {
        try await run(as: "watcher") { queue, client, free, _ in
            let ids = try await free.enqueue([QueueFixture.job, QueueFixture.job]).map(\.id)
            let job = try await free.claim(count: 1, worker: QueueFixture.worker).jobs[0]
            #expect(try await queue.stats()[.waiting] == 1)
            #expect(try await queue.list(state: .waiting, limit: 10).jobs.map(\.id) == [ids[1]])
            #expect(try await queue.jobs(ids).map { $0?.state } == [.running, .waiting])
            #expect(try await queue.log(ids[0]) == [])
            #expect(try await queue.workers().isEmpty)
            let events = try await client.send(["XREAD", "STREAMS", .text(free.keys.events), 0])
            #expect(events.array?.isEmpty == false)
            let newest = try await client.send(["XREVRANGE", .text(free.keys.events), "+", "-", "COUNT", "1"])
            #expect(newest.array?.count == 1)
            #expect(try await QueueAudit(queue).lastingProblems().sentences == [])
            #expect(try await queue.serverInfo().appendfsync == nil)
            let refusal = await #expect(throws: QueueError.self) { try await queue.cancel(ids) }
            #expect(
                refusal?.description.hasPrefix("the Redis user has no permission for this command; it replied: NOPERM")
                    == true)
            await #expect(throws: QueueError.self) { try await queue.enqueue([QueueFixture.job]) }
            await #expect(throws: QueueError.self) { try await queue.push(QueueFixture.job) }
            await #expect(throws: QueueError.self) { try await queue.pause() }
            await #expect(throws: QueueError.self) {
                try await queue.finish(id: job.id, token: job.token, outcome: .cancelled, log: [])
            }
            #expect(try await free.jobs(ids).map { $0?.state } == [.running, .waiting])
            await expectRefusals(client, Self.foreign)
        }
    }

    @Test func `a follower may do what the protocol describes, and sees no admitted source's address`() async throws {
        try await run(as: "follower") { _, client, free, _ in
            let id = try await free.enqueue([QueueFixture.job])[0].id
            #expect(
                try await client.send(["HGETALL", .text(free.keys.job(id))]).dictionary?["state"]?.string == "waiting")
            #expect(try await client.send(["GET", .text(free.keys.result(id))]) == .null)
            let (events, inbox) = (RedisArgument.text(free.keys.events), RedisArgument(free.keys.inbox))
            let newest = try await client.send(["XREVRANGE", events, "+", "-", "COUNT", 1])
            #expect(newest.array?.count == 1)
            #expect(try await client.send(["HGET", .text(free.keys.meta), "event"]).string != nil)
            #expect(try await client.send(["GET", .text("respool:{default}:alias:" + id)]) == .null)
            #expect(try await client.send(["GET", .text("respool:{default}:log:" + id)]) == .null)
            #expect(try await client.send(["XRANGE", inbox, "1-1", "1-1"]).array?.isEmpty == true)
            #expect(try await client.send(["XREAD", "STREAMS", events, 0]).array?.isEmpty == false)
            #expect(try await client.send(["SCARD", .text(free.keys.live)]).integer == 1)
            await expectRefusals(
                client,
                Self.foreign + [
                    ["GET", .text(free.keys.spec(id))], ["EVAL", "return 1", 0],
                    ["XADD", inbox, "*", "source", "x"], ["XDEL", inbox, "1-1"],
                    ["HSET", .text(free.keys.meta), "paused", 1],
                ])
        }
    }
}
