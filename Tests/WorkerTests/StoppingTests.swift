import Foundation
import Glibc
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// How a worker starts and how it ends.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct StoppingTests {
    @Test(arguments: [SIGTERM, SIGHUP])
    func `unfinished jobs are released uncharged when the grace period is over`(_ signal: Int32) async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker(["RESPOOL_GRACE": "0.5", "RESPOOL_SLOTS": "2"])
        let id = try await shop.push(["source": "\(server.url)/slow", "format": "mp3"])
        try await shop.isConverting(id)
        worker.kill(signal)
        let outcome = await worker.wait()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let job = try #require(try await shop.job(id))
        #expect(job.state == .waiting)
        #expect(job.attempt == 0)
        #expect(job.crashes == 0)
        #expect(try await shop.queue.workers().isEmpty)
        #expect(shop.outputs.isEmpty)
    }

    @Test func `a stopping worker lets its jobs end within the grace period, and takes no others`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker(["RESPOOL_GRACE": "120"])
        let id = try await shop.push(["source": "\(server.url)/held", "format": "mp3"])
        // A job that was claimed but not begun would be released.
        try await shop.isConverting(id)
        worker.kill(SIGTERM)
        try await worker.logs("draining")
        let late = try await shop.push(["source": "\(server.url)/quick", "format": "mp3"])
        try await server.release()
        let outcome = await worker.wait()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try await shop.job(id)?.state == .completed, "\(outcome.errors)")
        let state = try await shop.job(late)?.state
        #expect(state == .queued || state == .waiting)
    }

    @Test func `a second signal stops the worker at once, and its job is still released`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        let id = try await shop.push(["source": "\(server.url)/slow", "format": "mp3"])
        try await shop.isConverting(id)
        let children = try await worker.children("respool-tr")
        worker.kill(SIGINT)
        try await worker.logs("draining")
        worker.kill(SIGINT)
        #expect(await worker.wait().exitCode == 1)
        let job = try #require(try await shop.job(id))
        #expect(job.state == .waiting)
        #expect(job.attempt == 0)
        for child in children { try await hasEnded(child) }
    }

    @Test func `a worker stops in time although Redis does not answer`() async throws {
        let shop = try await Workshop()
        let server = try await SlowServer()
        let worker = try await shop.worker()
        let id = try await shop.push(["source": "\(server.url)/slow", "format": "mp3"])
        try await shop.isConverting(id)
        shop.redis.freeze()
        worker.kill(SIGTERM)
        try await worker.logs("draining")
        worker.kill(SIGTERM)
        #expect(await worker.wait().exitCode == 1)
        shop.redis.thaw()
    }

    @Test func `a worker shows that it lives over HTTP and by its health check`() async throws {
        let shop = try await Workshop()
        let port = try LoopbackPort.free()
        let worker = try await shop.worker(["RESPOOL_LISTEN": "\(port)"])
        let id = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 44_100)), "format": "flac",
        ])
        try await shop.job(id, reaches: .completed)
        let base = "http://127.0.0.1:\(port)"
        // The job is counted after Redis has replied, so a moment after others see its state.
        try await eventually("the job is counted") {
            try await ChildProcess.run("curl", ["-sS", "\(base)/metrics"]).output.contains(
                #"respool_jobs_total{queue="default",state="completed",code=""} 1"#)
        }
        let answers = try await ChildProcess.run(
            "curl", ["-sS", "\(base)/healthz", "\(base)/readyz", "\(base)/metrics"])
        #expect(answers.output.hasPrefix("ok\nok\n"))
        #expect(answers.output.contains(#"respool_audio_seconds_total{queue="default",format="flac"} 1"#))
        #expect(answers.output.contains("\nrespool_slots 1\n"))
        let check = try await ChildProcess.run(
            Programs.path("respoold"), ["worker", "--check"], environment: shop.environment)
        #expect(check.exitCode == 0)
        #expect(check.output.contains("worker \(worker.pid) is running"))
        worker.kill()
        await worker.wait()
        let late = try await ChildProcess.run(
            Programs.path("respoold"), ["worker", "--check"], environment: shop.environment)
        #expect(late.exitCode == 1)
        #expect(late.output == "no worker is running here\n")
    }

    @Test func `each log line of a job has its id and its attempt`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let id = try await shop.push(["source": "http://u:secret@127.0.0.1:9/a?sig=secret", "format": "mp3"])
        try await worker.logs("source_unreachable")
        let lines = worker.errors.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        let about = lines.filter { $0["job"] as? String == id }
        #expect(about.count >= 2)
        #expect(about.allSatisfy { $0["attempt"] as? Int == 1 })
        #expect(!worker.errors.contains("secret"))
    }

    @Test func `a worker that Redis refuses ends with status 3`() async throws {
        let shop = try await Workshop()
        _ = try await shop.client.send(["CONFIG", "SET", "requirepass", "secret"])
        let child = try await ChildProcess(
            Programs.path("respoold"), ["worker"],
            environment: shop.environment.merging(["RESPOOL_REDIS_URL": "unix://:wrong@\(shop.redis.socket)"]) { $1 })
        let outcome = await child.wait()
        #expect(outcome.exitCode == 3, "\(outcome.errors)")
        #expect(outcome.errors.contains("Redis rejects this worker"))
        #expect(!outcome.errors.contains("wrong@"))
    }

    @Test func `a worker warns of a Redis that may delete jobs`() async throws {
        let shop = try await Workshop(["maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"])
        let worker = try await shop.worker()
        try await worker.logs("maxmemory-policy is allkeys-lru")
    }

    @Test func `a worker warns of a Redis on TCP without a password`() async throws {
        let port = try LoopbackPort.free()
        let shop = try await Workshop(["port": "\(port)"])
        let url = ["RESPOOL_REDIS_URL": "redis://127.0.0.1:\(port)"]
        let worker = try await shop.worker(url)
        try await worker.logs("Redis at redis://127.0.0.1:\(port)")
        let id = try await shop.push(["source": try shop.source("a.wav", Sounds.ramp(samples: 441)), "format": "flac"])
        try await shop.job(id, reaches: .completed)
        worker.kill(SIGTERM)
        await worker.wait()

        let refused = try await ChildProcess.run(
            Programs.path("respoold"), ["worker"],
            environment: shop.environment.merging(url.merging(["RESPOOL_SANDBOX": "require"]) { $1 }) { $1 })
        #expect(refused.exitCode == 1 && refused.errors.contains("does not require a password"), "\(refused.errors)")
        #expect(refused.errors.contains("RESPOOL_SANDBOX"))
    }

    @Test func `a Redis with a password is trusted, also if the sandbox is required`() async throws {
        let port = try LoopbackPort.free()
        let shop = try await Workshop(["port": "\(port)"])
        _ = try await shop.client.send(["CONFIG", "SET", "requirepass", "sesame"])
        let worker = try await shop.worker([
            "RESPOOL_REDIS_URL": "redis://:sesame@127.0.0.1:\(port)", "RESPOOL_SANDBOX": "require",
        ])
        let id = try await shop.push(["source": try shop.source("a.wav", Sounds.ramp(samples: 441)), "format": "flac"])
        try await shop.job(id, reaches: .completed)
        #expect(!worker.errors.contains("password"))
    }

    @Test func `a worker without an output root starts only if its operator chose that, and says so`() async throws {
        let shop = try await Workshop()
        let refused = try await ChildProcess.run(
            Programs.path("respoold"), ["worker"],
            environment: shop.environment.merging(["RESPOOL_OUTPUT_ROOT": ""]) { $1 })
        #expect(refused.exitCode == 2 && refused.errors.contains("--output-root none"), "\(refused.errors)")
        #expect(refused.errors.split(separator: "\n").count == 1)

        let worker = try await shop.worker(["RESPOOL_OUTPUT_ROOT": "none"])
        let source = try shop.source("a.wav", Sounds.ramp(samples: 441))
        let job = try await shop.job(try await shop.push(["source": source, "format": "flac"]), reaches: .failed)
        #expect(job.error?.code == .outputDenied)
        #expect(!worker.errors.contains("RESPOOL_OUTPUT_ROOT is not set"))
        let records = try await shop.queue.workers()
        #expect(records.map { $0.traits.contains(.urlOutputs) } == [true])
    }

    @Test func `a worker warns about a variable with a name like that of a setting`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker(["RESPOOL_SLOT": "1", "RESPOOL_KEEP_GONE": "1"])
        try await worker.logs("unknown setting")
        #expect(worker.errors.contains("RESPOOL_SLOTS") && !worker.errors.contains("KEEP_GONE"))
    }

    @Test(arguments: [
        ["RESPOOL_SLOTS": "none"], ["RESPOOL_GRACE": "-1"], ["RESPOOL_QUEUE": "a b"], ["RESPOOL_LISTEN": "host"],
        ["RESPOOL_LOG": "loud"], ["RESPOOL_PAIR_PER": "job"], ["RESPOOL_REDIS_URL": "nowhere"], ["RESPOOL_LEASE": "0"],
        ["RESPOOL_SOURCE_ROOTS": "/tmp:/no/such"], ["RESPOOL_OUTPUT_ROOT": "/no/such"],
        ["RESPOOL_SPOOL_DIR": "/etc/passwd"],
        ["RESPOOL_SSH_KNOWN_HOSTS": "/no/such", "RESPOOL_SOURCE_SCHEMES": "sftp"],
        ["RESPOOL_OUTPUT_SCHEMES": "ftp,gopher"],
        ["RESPOOL_SSH_KEY_FILE": "/etc", "RESPOOL_SOURCE_SCHEMES": "sftp", "RESPOOL_SSH_KNOWN_HOSTS": "/etc/passwd"],
    ])
    func `a setting that cannot be parsed is refused and named`(environment: [String: String]) async throws {
        let outcome = try await ChildProcess.run(
            Programs.path("respoold"), ["worker"], environment: environment)
        #expect(outcome.exitCode == 2)
        #expect(environment.keys.contains { outcome.errors.hasPrefix("respoold: \($0)") }, "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func `the error about a folder of another user shows how to change its owner`() async throws {
        let folder = try TemporaryFolder()
        guard chmod(folder.path, geteuid() == 0 ? 0o700 : 0) == 0 else { throw POSIXError(.EPERM) }
        // Root may write everywhere.
        let command = geteuid() == 0 ? ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"] : []
        let words = command + [Programs.path("respoold"), "worker"]
        let outcome = try await ChildProcess.run(
            words[0], Array(words.dropFirst()), environment: ["RESPOOL_OUTPUT_ROOT": folder.path])
        let owner = geteuid() == 0 ? "12345:12345" : "\(geteuid()):\(getegid())"
        #expect(
            outcome.exitCode == 2 && outcome.errors.contains("chown -R \(owner) \(folder.path)"), "\(outcome.errors)")
    }

    /// As root, the worker is another user, whose folder can be created here.
    @Test(.enabled(if: geteuid() == 0), arguments: [nil, mode_t(0o700), 0o777])
    func `without a spool folder the worker makes one that no other user can enter`(existing: mode_t?) async throws {
        let user = 60_000 + Int(getpid()) % 5000 + Int(existing ?? 0) * 10_000
        let folder = "/tmp/respool-\(user)"
        if let existing { #expect(mkdir(folder, 0o700) == 0 && chmod(folder, existing) == 0) }
        defer { rmdir(folder) }
        let words = ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", Programs.path("respoold"), "worker"]
        // The settings are checked in their order, and this one is wrong.
        let outcome = try await ChildProcess.run("setpriv", words, environment: ["RESPOOL_REDIS_URL": "nowhere"])
        #expect(outcome.exitCode == 2)
        if existing == nil {
            #expect(outcome.errors.contains("RESPOOL_REDIS_URL"), "\(outcome.errors)")
            var status = stat()
            #expect(lstat(folder, &status) == 0 && status.st_mode & 0o7777 == 0o700 && Int(status.st_uid) == user)
        } else {
            #expect(
                outcome.errors.contains("'\(folder)'") && outcome.errors.contains("RESPOOL_SPOOL_DIR"),
                "\(outcome.errors)")
        }
    }

    @Test(arguments: [["worker", "--now"], ["serve", "--now"], ["nonsense"], []])
    func `wrong usage of the daemon is answered with its usage`(words: [String]) async throws {
        let outcome = try await ChildProcess.run(Programs.path("respoold"), words)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.hasPrefix("respoold: usage: "))
    }
}
