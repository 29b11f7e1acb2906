import JobSchema
import Jobs
import Lifecycle
import MediaTypes
import Redis
import TestSupport
import Testing

/// A queue on a server of its own.
struct QueueFixture {
    let server: RedisServer
    let client: RedisClient
    let queue: JobQueue

    static let job = ["source": "https://example.org/a.flac", "format": "mp3"]
    static let worker = "host:1:abc"

    /// A client that waits for a busy machine.
    static func patientClient(_ server: RedisServer) -> RedisClient {
        RedisClient(url: server.url, name: "test", timeout: .seconds(60))
    }

    /// Runs the body on a fresh queue, and the audit after it.
    static func run(
        settings: QueueSettings = .init(), options: KeyValuePairs<String, String> = [:],
        _ body: (QueueFixture) async throws -> Void
    ) async throws {
        let server = try await RedisServer(options)
        let client = patientClient(server)
        let queue = JobQueue(client: client, name: try QueueName("test"), settings: settings)
        let fixture = QueueFixture(server: server, client: client, queue: queue)
        try await body(fixture)
        let problems = try await QueueAudit(queue).problems()
        #expect(problems == [])
        await client.close()
    }

    /// A job that anybody pushes; answers its id.
    @discardableResult
    func push(_ fields: KeyValuePairs<String, String>) async throws -> String {
        var command: RedisCommand = ["XADD", .text(queue.keys.inbox), "*"]
        for (name, value) in fields {
            command.append(name)
            command.append(value)
        }
        return try #require(try await client.send(command).string)
    }

    /// A job with a source and a format, pushed by anybody.
    @discardableResult
    func push(_ more: [String: String] = [:]) async throws -> String {
        var command: RedisCommand = ["XADD", .text(queue.keys.inbox), "*"]
        for (name, value) in Self.job.merging(more, uniquingKeysWith: { $1 }) {
            command.append(name)
            command.append(value)
        }
        return try #require(try await client.send(command).string)
    }

    func enqueue(_ more: [String: String] = [:]) async throws -> String {
        try await queue.enqueue([Self.job.merging(more, uniquingKeysWith: { $1 })])[0].id
    }

    func claim(_ count: Int = 1) async throws -> [ClaimedJob] {
        try await queue.claim(count: count, worker: Self.worker).jobs
    }

    func claimOne() async throws -> ClaimedJob {
        let jobs = try await claim()
        return try #require(jobs.first)
    }

    func record(_ id: String) async throws -> JobRecord {
        let record = try await queue.jobs([id])[0]
        return try #require(record)
    }

    func state(_ id: String) async throws -> JobState? { try await queue.jobs([id])[0]?.state }

    func beat(_ jobs: [ClaimedJob], progress: Progress? = nil, worker: String = worker) async throws -> BeatAnswer {
        try await queue.beat(
            worker: WorkerRecord(name: worker, host: "host", slots: 2, version: "1"),
            jobs: jobs.map { Heartbeat(id: $0.id, token: $0.token, progress: progress) })
    }

    func finish(_ job: ClaimedJob, _ outcome: Jobs.Outcome, log: [String] = []) async throws -> FinishAnswer {
        try await queue.finish(id: job.id, token: job.token, outcome: outcome, log: log)
    }

    /// Lets the leases end, as if their time were over.
    func endLeases() async throws {
        try await shift(queue.keys.lease)
        _ = try await client.send(["HSET", .text(queue.keys.meta), "grace", "0"])
        try await letSweep()
    }

    /// Lets the next claim sweep; a busy machine must not take this for an outage.
    func letSweep() async throws {
        let seen = RedisArgument.text(String(WallClock.milliseconds() - 100))
        _ = try await client.send(["HSET", .text(queue.keys.meta), "seen", seen])
    }

    /// Makes the delayed jobs due.
    func makeDue() async throws {
        let reply = try await client.send(["ZRANGE", .text(queue.keys.delayed), "0", "-1"])
        for id in reply.array ?? [] {
            _ = try await client.send(["ZADD", .text(queue.keys.delayed), "1", .text(id.string ?? "")])
            _ = try await client.send(["HSET", .text(queue.keys.job(id.string ?? "")), "due", "1"])
        }
        try await letSweep()
    }

    private func shift(_ key: String) async throws {
        let reply = try await client.send(["ZRANGE", .text(key), "0", "-1"])
        // One command: a busy machine must not take this for an outage.
        let members = (reply.array ?? []).flatMap { ["1", .text($0.string ?? "")] as [RedisArgument] }
        if !members.isEmpty { _ = try await client.send(RedisCommand(["ZADD", .text(key)] + members)) }
    }

    static let report = OutputReport(
        url: "file:///out/a.mp3", format: "mp3", codec: "mp3", bytes: 10, duration: 1, sampleRate: 44_100, channels: 2,
        bitRate: 128_000, sha256: "00", copied: false, gapless: .init(start: 0, end: 0),
        damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])

    static let commit = CommitRecord(outputs: [
        .init(destination: "/out/a.mp3", staged: "/out/.a.1", report: report)
    ])
}
