import Jobs
import Redis
import TestSupport
import Testing

/// Commands where Redis has replicas, or should have.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct DurableCommandTests {
    @Test func `enqueue --durable prints an id once a replica has the job`() async throws {
        let port = try LoopbackPort.free()
        let servers = try await ReplicatedServer(of: RedisServer(ReplicatedServer.options(port: port)), port: port)
        let respool = RespoolProcess(servers.primary, environment: ["RESPOOL_WAIT_TIMEOUT": "30"])
        let pushed = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--durable")
        #expect(pushed.exitCode == 0 && pushed.lines.count == 1, "\(pushed.errors)")
        await servers.primary.kill()
        let promoted = servers.replica.client()
        _ = try await promoted.send(["REPLICAOF", "NO", "ONE"])
        let status = try await RespoolProcess(servers.replica).run("status", pushed.lines[0])
        #expect(status.exitCode == 0 && status.output.contains("waiting"), "\(status.output)\(status.errors)")
    }

    @Test func `enqueue --durable reports that a job is in the queue and on no replica`() async throws {
        let server = try await RedisServer()
        let respool = RespoolProcess(server, environment: ["RESPOOL_WAIT_TIMEOUT": "0.05"])
        let pushed = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--durable")
        #expect(pushed.exitCode == 3 && pushed.output.isEmpty)
        #expect(pushed.errors.contains("the jobs are in the queue"), "\(pushed.errors)")
        #expect(try await JobQueue(client: server.client()).stats().counts.values.reduce(0, +) == 1)
    }

    @Test func `the doctor reports fewer replicas than workers wait for`() async throws {
        let server = try await RedisServer()
        let sentence = "RESPOOL_WAIT_REPLICAS is 2 and Redis has 0 replicas, so no result can be published"
        let waiting = try await RespoolProcess(server, environment: ["RESPOOL_WAIT_REPLICAS": "2"]).run("doctor")
        #expect(waiting.exitCode == 0 && waiting.output.contains(sentence), "\(waiting.output)")
        #expect(try await !RespoolProcess(server).run("doctor").output.contains("RESPOOL_WAIT_REPLICAS"))
        let wrong = try await RespoolProcess(server, environment: ["RESPOOL_WAIT_REPLICAS": "many"]).run("doctor")
        #expect(wrong.exitCode == 2 && wrong.errors.contains("'many'"), "\(wrong.errors)")
    }
}
