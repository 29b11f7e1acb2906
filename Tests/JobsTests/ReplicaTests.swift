import Configuration
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// Writes that count once a replica has them.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ReplicaTests {
    private let servers: ReplicatedServer
    private let client: RedisClient
    private let queue: JobQueue
    private static let wait = ReplicaWait(replicas: 1, timeout: .milliseconds(150))

    init() async throws {
        let port = try LoopbackPort.free()
        servers = try await ReplicatedServer(of: RedisServer(ReplicatedServer.options(port: port)), port: port)
        client = servers.primary.client()
        queue = JobQueue(client: client, replicas: Self.wait)
    }

    /// Expects that no replica has acknowledged the call.
    private func expectNone(_ call: () async throws -> Void) async {
        let error = await #expect(throws: QueueError.self) { try await call() }
        #expect(error == .redis(.tooFewReplicas(acknowledged: 0, Self.wait)))
        #expect(error?.isTransient == true)
    }

    @Test func `a durable job counts once a replica has it, and survives a failover`() async throws {
        let first = try await patiently { try await queue.enqueue([QueueFixture.job], nonce: "aaaaaaaa") }
        servers.replica.freeze()
        let fresh = servers.primary.client()
        for client in [client, client, fresh] {
            let queue = JobQueue(client: client, replicas: Self.wait)
            await expectNone { _ = try await queue.enqueue([QueueFixture.job], nonce: "bbbbbbbb") }
        }
        servers.replica.thaw()
        // The answer that was lost is given again, and nothing is pushed twice.
        let second = try await patiently { try await queue.enqueue([QueueFixture.job], nonce: "bbbbbbbb") }
        await servers.primary.kill()
        let promoted = servers.replica.client()
        _ = try await promoted.send(["REPLICAOF", "NO", "ONE"])
        let jobs = try await JobQueue(client: promoted).claim(count: 5, worker: "w").jobs
        #expect(jobs.map(\.id) == (first + second).map(\.id))
        #expect(try await QueueAudit(JobQueue(client: promoted)).problems() == [])
    }

    @Test func `a publication counts once a replica has it, and refusals wait for none`() async throws {
        // Only the publication is to wait for the replica, which a busy machine may hold up.
        let plain = JobQueue(client: client)
        let ids = try await plain.enqueue([QueueFixture.job, QueueFixture.job]).map(\.id)
        let jobs = try await plain.claim(count: 2, worker: "w").jobs
        _ = try await plain.cancel([ids[1]])
        servers.replica.freeze()
        let tokens = jobs.map(\.token)
        await expectNone { _ = try await queue.publish(id: ids[0], token: tokens[0], record: QueueFixture.commit) }
        #expect(try await queue.publish(id: ids[0], token: "9:x", record: QueueFixture.commit) == .stale)
        #expect(try await queue.publish(id: ids[1], token: tokens[1], record: QueueFixture.commit) == .cancelled)
        servers.replica.thaw()
        let answer = try await patiently {
            try await queue.publish(id: ids[0], token: tokens[0], record: QueueFixture.commit)
        }
        #expect(answer == .ok)
    }

    /// From Redis 7.2 on `WAIT` looks only at what its own connection wrote.
    @Test func `a repeated answer is written again, so that there is something to wait for`() async throws {
        let queue = JobQueue(client: client)
        let id = try await queue.enqueue([QueueFixture.job], nonce: "aaaaaaaa")[0].id
        let job = try #require(try await queue.claim(count: 1, worker: "w").jobs.first)
        _ = try await queue.publish(id: id, token: job.token, record: QueueFixture.commit)
        var bytes = try await servers.replicatedBytes()
        for call in ["enqueue", "publish"] {
            if call == "enqueue" {
                #expect(try await queue.enqueue([QueueFixture.job], nonce: "aaaaaaaa").map(\.id) == [id])
            } else {
                #expect(try await queue.publish(id: id, token: job.token, record: QueueFixture.commit) == .ok)
            }
            let after = try await servers.replicatedBytes()
            #expect(after > bytes, "\(call)")
            bytes = after
        }
    }

    @Test func `the environment sets for how many replicas a worker waits`() throws {
        #expect(try ReplicaWait(Environment([:])) == nil)
        #expect(
            try ReplicaWait(Environment([:]), fallback: 1) == ReplicaWait(replicas: 1, timeout: .seconds(1)))
        let values = ["RESPOOL_WAIT_REPLICAS": "2", "RESPOOL_WAIT_TIMEOUT": "0.5"]
        #expect(
            try ReplicaWait(Environment(values)) == ReplicaWait(replicas: 2, timeout: .milliseconds(500)))
        for (name, value) in [("RESPOOL_WAIT_REPLICAS", "-1"), ("RESPOOL_WAIT_TIMEOUT", "0")] {
            let failure = #expect(throws: SettingError.self) {
                try ReplicaWait(Environment([name: value]))
            }
            #expect(failure?.message.contains("\(name) is '\(value)': expected") == true)
        }
    }

    /// A replica that was frozen, or a busy machine, may need more than one wait to catch up.
    private func patiently<Answer>(_ call: () async throws -> Answer) async throws -> Answer {
        for _ in 0..<100 {
            do { return try await call() } catch let error as QueueError where error.isShortOfReplicas { continue }
        }
        return try await call()
    }
}
