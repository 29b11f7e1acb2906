import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

/// A queue on a server that no other test uses meanwhile.
struct QueueFixture {
    let server: RedisServer
    let client: RedisClient
    let queue: JobQueue

    static let job = ["source": "https://example.org/a.flac", "format": "mp3"]
    static let worker = "host:1:abc"

    /// Runs the body on a fresh queue, and the audit after it.
    ///
    /// The clock of its server stands still unless the body waits for it: a test process that is held up for seconds would
    /// otherwise look like an outage of Redis, after which all leases get a new term.
    static func run(
        settings: QueueSettings = .init(), options: KeyValuePairs<String, String> = [:],
        clock: RedisServer.Clock = .still,
        _ body: (QueueFixture) async throws -> Void
    ) async throws {
        let isPlain = options.isEmpty
        let server = try await isPlain ? .borrowed(clock: clock) : RedisServer(options, clock: clock)
        let client = server.client()
        let queue = JobQueue(client: client, name: try QueueName("test"), settings: settings)
        let fixture = QueueFixture(server: server, client: client, queue: queue)
        try await body(fixture)
        let problems = try await QueueAudit(queue).problems()
        #expect(problems == [])
        await client.close()
        if isPlain { try await server.giveBack() }
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

    /// The name of a field with which an entry is not admitted.
    static let longName = String(repeating: "x", count: 65)

    /// Claims jobs, and refuses those with wrong fields, as a worker does; returns the others.
    @discardableResult
    func claimRight(_ count: Int = 1) async throws -> [ClaimedJob] {
        var right: [ClaimedJob] = []
        for job in try await claim(count) {
            let spec = Result { () throws(Failure) in try JobSpec(fields: job.fields, unusable: job.unusable) }
            switch spec {
            case .success: right.append(job)
            case .failure(let failure): _ = try await finish(job, .failed(failure))
            }
        }
        return right
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

    /// The time of the server in milliseconds.
    func now() async throws -> Int64 {
        let time = try await client.send(["TIME"]).array?.compactMap(\.integer) ?? []
        return time[0] * 1000 + time[1] / 1000
    }

    /// Lets the leases end, as if their time were over.
    func endLeases() async throws {
        let reply = try await client.send(["ZRANGE", .text(queue.keys.lease), "0", "-1"])
        for id in reply.array ?? [] {
            _ = try await client.send(["ZADD", .text(queue.keys.lease), "1", .text(id.string ?? "")])
        }
        _ = try await client.send(["HSET", .text(queue.keys.meta), "grace", "0"])
        try await letSweep()
    }

    /// Lets the next claim sweep: the last call of a worker is `age` milliseconds old.
    func letSweep(age: Int64 = 100) async throws {
        _ = try await client.send(["HSET", .text(queue.keys.meta), "seen", .integer(try await now() - age)])
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

    static let report = OutputReport(
        url: "file:///out/a.mp3", format: "mp3", codec: "mp3", bytes: 10, duration: 1, sampleRate: 44_100, channels: 2,
        bitRate: 128_000, sha256: "00", copied: false, gapless: .init(start: 0, end: 0),
        damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])

    static let commit = CommitRecord(outputs: [
        .init(destination: "/out/a.mp3", staged: "/out/.a.1", report: report)
    ])
}
