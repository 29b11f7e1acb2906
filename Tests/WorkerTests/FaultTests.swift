import Glibc
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// What a worker makes of the death of others, and others of its own.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct FaultTests {
    @Test func `a worker takes over the job of one that was killed`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let killed = try await shop.worker(["RESPOOL_LEASE": "3"])
        let id = try await shop.push(["source": "\(server.url)/slow-once?a", "format": "mp3"])
        try await shop.isConverting(id)
        let children = try await killed.children("respool-tr")
        #expect(children.count == 2)
        let other = try await shop.worker(["RESPOOL_LEASE": "3"])
        killed.kill()
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.crashes == 1)
        #expect(job.attempt == 1)
        #expect(shop.outputs == ["\(id).mp3"])
        // They die with their parent.
        for child in children { try await hasEnded(child) }
        withExtendedLifetime(other) {}
    }

    @Test(arguments: ["respool-transcode", "respool-transfer"])
    func `the death of a child is charged to the job, which runs again`(program: String) async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        let id = try await shop.push(["source": "\(server.url)/slow-once?a", "format": "mp3"])
        try await shop.isConverting(id)
        for child in try await worker.children(program) { kill(child, SIGKILL) }
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.crashes == 1)
        #expect(job.attempt == 1)
        #expect(worker.errors.contains(#""code":"crashed""#))
        #expect(shop.outputs == ["\(id).mp3"])
    }

    @Test(arguments: ["respool-transcode", "respool-transfer"])
    func `a worker starts although a child is killed before its first job`(program: String) async throws {
        let shop = try await Workshop()
        let folder = try TemporaryFolder()
        try await folder.copy(ofProgram: "respoold")
        for name in ["respool-transcode", "respool-transfer"] where name != program {
            symlink(Programs.path(name), folder.file(name))
        }
        try await folder.script(
            program, "mkdir \(folder.file("killed")) 2>&- && kill -9 $$\nexec \(Programs.path(program)) \"$@\"")
        let worker = try await ChildProcess(folder.file("respoold"), ["worker"], environment: shop.environment)
        try await worker.logs("worker started")
        let id = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac",
        ])
        #expect(try await shop.job(id, reaches: .completed).crashes == 0)
        #expect(access(folder.file("killed"), F_OK) == 0)
    }

    @Test func `a job whose transcoder dies three times fails, and the worker lives on`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker(["RESPOOL_MAX_CRASHES": "3"])
        let id = try await shop.push(["source": "\(server.url)/slow", "format": "mp3"])
        for crashes in 1...3 {
            try await shop.isConverting(id)
            for child in try await worker.children("respool-transcode") { kill(child, SIGKILL) }
            try await eventually("crash \(crashes)") {
                try await shop.job(id)?.crashes == crashes
            }
        }
        let job = try await shop.job(id, reaches: .failed)
        #expect(job.error?.code == .crashed && job.attempt == 0)
        #expect(job.error?.message.contains("respool-transcode") == true, "\(job.error?.message ?? "")")
        let next = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac",
        ])
        try await shop.job(next, reaches: .completed)
        #expect(try await shop.queue.workers().count == 1)
    }

    @Test func `a frozen worker drops a job that another one took over`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let frozen = try await shop.worker(["RESPOOL_LEASE": "3"])
        let id = try await shop.push(["source": "\(server.url)/slow-once?a", "format": "mp3"])
        try await shop.isConverting(id)
        frozen.kill(SIGSTOP)
        let other = try await shop.worker(["RESPOOL_LEASE": "3"])
        let job = try await shop.job(id, reaches: .completed)
        frozen.kill(SIGCONT)
        try await frozen.logs("the lease is lost")
        #expect(try await shop.job(id) == job)
        #expect(shop.outputs == ["\(id).mp3"])
        let next = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac",
        ])
        try await shop.job(next, reaches: .completed)
        withExtendedLifetime(other) {}
    }

    @Test func `a worker goes on converting while Redis is away, and reports the result when it is back`() async throws
    {
        let shop = try await Workshop(["appendonly": "yes", "appendfsync": "always"])
        let server = try await SlowServer()
        let worker = try await shop.worker(["RESPOOL_LEASE": "3"])
        let id = try await shop.push(["source": "\(server.url)/slow-once?a", "format": "mp3"])
        let quick = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 44_100)), "format": "opus",
        ])
        try await shop.isConverting(id)
        await shop.redis.kill()
        try await worker.logs("conversions continue")
        // Longer than the lease.
        try await Task.sleep(for: .seconds(4))
        try await shop.redis.restart()
        try await worker.logs("Redis is reachable again")
        try await shop.isConverting(id)
        let job = try #require(try await shop.job(id))
        #expect(job.attempt == 1)
        #expect(job.crashes == 0)
        _ = try await shop.queue.cancel([id])
        try await shop.job(id, reaches: .cancelled)
        try await shop.job(quick, reaches: .completed)
    }

    @Test func `a worker reports again to a Redis that lost its last moments`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker(["RESPOOL_LEASE": "3"])
        let id = try await shop.push(["source": "\(server.url)/held", "format": "mp3"])
        try await shop.job(id, reaches: .running)
        _ = try await shop.client.send(["SAVE"])
        try await server.release()
        let told = try await shop.job(id, reaches: .completed)
        await shop.redis.kill()
        try await worker.logs("conversions continue")
        try await shop.redis.restart()
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.attempt == 1)
        #expect(job.crashes == 0)
        #expect(job.outputs == told.outputs)
    }

    @Test func `a worker waits while a cluster lacks a shard, and works again when that is back`() async throws {
        let shop = try await Workshop()
        let cluster = try await RedisCluster()
        let worker = try await shop.worker(["RESPOOL_REDIS_URL": "\(try cluster.url)"])
        let client = RedisClient(
            url: try cluster.url, name: "test", key: QueueKeys(.default).meta, timeout: .seconds(60))
        let queue = JobQueue(client: client)
        let job = ["source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac"]
        var ids = [try await queue.enqueue([job])[0].id]
        func areDone() async throws -> Bool {
            try await queue.jobs(ids).allSatisfy { $0?.state == .completed && $0?.crashes == 0 }
        }
        try await eventually("the first job is done", areDone)
        try await cluster.breakApart()
        try await worker.logs("the Redis cluster is down or incomplete")
        try await cluster.mend()
        try await worker.logs("Redis is reachable again")
        ids.append(try await queue.enqueue([job])[0].id)
        try await eventually("both are done", areDone)
        #expect(Set(shop.outputs) == Set(ids.map { "\($0).flac" }))
        #expect(try await QueueAudit(queue).problems() == [])
        await client.close()
    }

    @Test func `a worker goes on with the next master when its master is killed`() async throws {
        let shop = try await Workshop()
        let trio = try await SentinelTrio()
        let worker = try await shop.worker(["RESPOOL_REDIS_URL": "\(try trio.url)"])
        let queue = JobQueue(client: RedisClient(url: try trio.url, name: "test", timeout: .seconds(60)))
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        for _ in 0..<2 {
            var id: String?
            try await eventually("the job is pushed") {
                id = try? await queue.enqueue([["source": source, "format": "flac"]])[0].id
                return id != nil
            }
            try await eventually("the job is done") {
                try await queue.jobs([id ?? ""])[0]?.state == .completed
            }
            if try await trio.master() == trio.ports[0] { try await trio.failOver(from: 0) }
            try await worker.logs("Redis is reachable again")
        }
        #expect(shop.outputs.count == 2)
    }
}
