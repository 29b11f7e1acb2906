import Foundation
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct QueueCommandTests {
    private let server: RedisServer
    private let respool: RespoolProcess

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
    }

    private var queue: JobQueue { JobQueue(client: server.client()) }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `enqueue prints the ids of jobs in the order of their sources`() async throws {
        let outcome = try await respool.run(
            "enqueue", "https://x.org/1", "/a/b c.wav", "https://x.org/3", "--to", "mp3", "--bit-rate", "64k",
            "--start", "1:00")
        #expect(outcome.exitCode == 0)
        #expect(outcome.lines.count == 3)
        let jobs = try await queue.jobs(outcome.lines)
        #expect(jobs.map { $0?.source } == ["https://x.org/1", "file:///a/b%20c.wav", "https://x.org/3"])
        #expect(jobs.allSatisfy { $0?.state == .waiting && $0?.format == "mp3" })
        let spec = try await server.client().send(["GET", "respool:{default}:spec:\(outcome.lines[1])"])
        #expect(spec.string?.contains("bit_rate") == true && spec.string?.contains("1:00") == true)
    }

    @Test func `a duplicate is reported with the first job's id`() async throws {
        let first = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--dedup", "k", "--json")
        let second = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--dedup", "k", "--json")
        let (one, two) = (try object(first.output), try object(second.output))
        #expect(one["id"] as? String == two["id"] as? String)
        #expect(one["duplicate"] as? Bool == false && two["duplicate"] as? Bool == true)
    }

    @Test func `status and jobs print jobs as text and as JSON`() async throws {
        let id = try await respool.run("enqueue", "https://u:p@x.org/talk.flac?sig=s3cret", "--to", "opus").lines[0]
        let json = try object(try await respool.run("status", id, "--json").output)
        #expect(json["id"] as? String == id)
        #expect(json["state"] as? String == "waiting")
        #expect(json["error"] is NSNull && json["outputs"] is NSNull && json["finished_at"] is NSNull)
        let text = try await respool.run("status", id).output
        #expect(text.contains(id) && text.contains("waiting (attempt 0 of 5, priority normal)"))
        #expect(!text.contains("s3cret") && !text.contains("\u{1b}"))
        let list = try await respool.run("jobs", "--state", "waiting")
        #expect(list.lines.count == 2 && list.lines[1].hasPrefix(id) && list.output.contains("talk.flac → opus"))
        let none = try await respool.run("jobs", "--state", "failed")
        #expect(none.output == "" && none.errors == "respool: no job in the queue is failed\n")
        #expect(try await respool.run("jobs", "--state", "failed", "--json").errors == "")
        let log = try await respool.run("logs", id)
        #expect(log.exitCode == 0 && log.output == "" && log.errors.contains("'\(id)' has no log"))
    }

    @Test func `an unknown id is reported`() async throws {
        for words in [["status"], ["status", "--watch"], ["cancel"], ["retry"], ["logs"]] {
            let outcome = try await respool.run(words + ["1-0"])
            #expect(outcome.exitCode == 1, "\(words)")
            #expect((outcome.errors + outcome.output).contains("1-0"), "\(words)")
        }
    }

    @Test func `cancel and retry act on a job, and report when it is too late`() async throws {
        let ids = try await respool.run("enqueue", "https://x.org/1", "https://x.org/2", "--to", "mp3").lines
        let cancelled = try await respool.run(["cancel"] + ids)
        #expect(cancelled.exitCode == 0)
        #expect(cancelled.lines == ids.map { "\($0) cancelled" })
        let again = try await respool.run("cancel", ids[0])
        #expect(again.exitCode == 1)
        #expect(again.lines == ["\(ids[0]) too late: the job is cancelled"])
        let retried = try await respool.run("retry", ids[0], "--json")
        #expect(retried.exitCode == 0)
        #expect(try object(retried.output)["result"] as? String == "retried")
        #expect(try await queue.jobs(ids).map { $0?.state } == [.waiting, .cancelled])
        #expect(try await respool.run("retry", ids[0]).lines[0].contains("wrong state: the job is waiting"))
        #expect(try await respool.run("purge", "--state", "cancelled", "--yes").output == "1\n")
        #expect(try await queue.jobs(ids)[1] == nil)
        #expect(try await respool.run("purge", "--state", "waiting", "--yes").output == "1\n")
        #expect(try await queue.jobs(ids)[0] == nil)
    }

    @Test func `a queue is paused and resumed, and its status shows the counts`() async throws {
        _ = try await respool.run("enqueue", "https://x.org/1", "https://x.org/2", "--to", "mp3")
        #expect(try await respool.run("pause").exitCode == 0)
        let paused = try object(try await respool.run("status", "--json").output)
        #expect(paused["paused"] as? Bool == true)
        #expect((paused["counts"] as? [String: Int])?["waiting"] == 2)
        let text = try await respool.run("status").output
        #expect(text.contains("2 waiting") && text.contains("paused") && text.contains("no worker"))
        #expect(try await respool.run("resume").exitCode == 0)
        #expect(try await queue.stats().isPaused == false)
    }

    @Test func `queues are kept apart`() async throws {
        let id = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--queue", "other").lines[0]
        #expect(try await respool.run("status", id).exitCode == 1)
        #expect(try await respool.run("status", id, "--queue", "other").exitCode == 0)
        let other = RespoolProcess(server, environment: ["RESPOOL_QUEUE": "other"])
        #expect(try await other.run("status", id).exitCode == 0)
    }

    @Test func `wait returns when jobs finish, and its exit status reports how`() async throws {
        let good = try await ChildProcess(
            Programs.path("respool"), ["enqueue", "https://x.org/1", "--to", "mp3", "--wait"],
            environment: respool.environment)
        try await finish(one: { _ in .completed([]) })
        #expect(await good.wait().exitCode == 0)
        let bad = try await ChildProcess(
            Programs.path("respool"), ["enqueue", "https://x.org/2", "--to", "mp3", "--wait"],
            environment: respool.environment)
        try await finish(one: { _ in .failed(.init(.corruptMedia, "it is broken")) })
        let outcome = await bad.wait()
        #expect(outcome.exitCode == 1)
        #expect(outcome.lines.count == 1)
        #expect(outcome.errors.contains("failed corrupt_media: it is broken"))
    }

    /// Takes the next job, as a worker would, and ends it.
    private func finish(one outcome: (String) -> Jobs.Outcome) async throws {
        let (queue, worker) = (queue, "host:1:test")
        try await eventually("a job is there") {
            guard let job = try await queue.claim(count: 1, worker: worker).jobs.first else { return false }
            _ = try await queue.finish(id: job.id, token: job.token, outcome: outcome(job.id))
            return true
        }
    }

    @Test func `watch prints jobs line by line without a terminal`() async throws {
        let id = try await respool.run("enqueue", "https://x.org/a.wav", "--to", "mp3").lines[0]
        let watch = try await ChildProcess(
            Programs.path("respool"), ["status", id, "--watch"], environment: respool.environment)
        try await eventually("the first line") { watch.output.contains("\(id) waiting") }
        try await finish(one: { _ in .cancelled })
        let outcome = await watch.wait()
        #expect(outcome.exitCode == 1)
        #expect(outcome.lines.last == "\(id) cancelled (a.wav → mp3)")
        #expect(!outcome.output.contains("\u{1b}"))
    }

    @Test(arguments: [["status", "--watch"], ["status", "--group", "g", "--watch"], ["status", "ID", "--watch"]])
    func `a command that waits reports that Redis is unreachable, and goes on`(words: [String]) async throws {
        let id = try await respool.run("enqueue", "https://x.org/a.wav", "--to", "mp3", "--group", "g").lines[0]
        let watch = try await ChildProcess(
            Programs.path("respool"), words.map { $0 == "ID" ? id : $0 }, environment: respool.environment)
        try await eventually("the first line") { watch.output.contains("waiting") }
        _ = try await server.client().send(["SAVE"])
        await server.kill()
        try await eventually("the notice") { watch.errors.contains("; waiting for it\n") }
        try await server.restart()
        // On a busy machine it may be lost again meanwhile.
        try await eventually("the return") { watch.errors.contains("respool: Redis is reachable again\n") }
        #expect(watch.isRunning)
        watch.kill(SIGTERM)
    }

    @Test func `a command that waits reports that no worker serves the queue`() async throws {
        let outcome = try await ChildProcess(
            Programs.path("respool"), ["enqueue", "https://x.org/a.wav", "--to", "mp3", "--wait", "--queue", "lost"],
            environment: respool.environment)
        let hint = "respool: no worker serves the queue: start one with `respool worker --queue lost`\n"
        try await eventually("the hint") { outcome.errors == hint }
        outcome.kill(SIGTERM)
    }

    @Test func `skipped outputs are shown without the figures of a file`() async throws {
        let id = try await respool.run("enqueue", "https://x.org/a.wav", "--to", "mp3", "--overwrite", "skip").lines[0]
        try await finish(one: { _ in .completed([OutputReport(format: "mp3", skippedAt: "/out/a.mp3")]) })
        let text = try await respool.run("status", id).output
        #expect(text.contains("skipped") && text.contains("exists and was not replaced"), "\(text)")
        #expect(!text.contains("0 Hz") && !text.contains("sha256"), "\(text)")
    }

    @Test func `retry can correct a job that was refused for an unknown field`() async throws {
        let pushed = try await server.client().send([
            "XADD", "respool:{default}:in", "*", "source", "https://x.org/a.wav", "formt", "mp3",
        ])
        let id = try #require(pushed.string)
        let failure = try #require(
            throws: Failure.self,
            performing: { try JobSpec(fields: ["source": "https://x.org/a.wav", "formt": "mp3"]) })
        try await finish(one: { _ in .failed(failure) })
        let status = try await respool.run("status", id).output
        for fault in failure.fields ?? [] { #expect(status.contains(fault.message), "\(status)") }
        let record = try object(try await respool.run("status", id, "--json").lines[0])
        let fields = (record["error"] as? [String: Any])?["fields"] as? [[String: String]]
        #expect(fields?.compactMap { $0["field"] } == ["formt", "format"])
        #expect(try await respool.run("retry", id).exitCode == 1)
        #expect(try await respool.run("retry", id, "--set", "bitrate=").exitCode == 1)
        let outcome = try await respool.run("retry", id, "--set", "formt=", "--set", "format=mp3")
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        #expect(try await queue.jobs([id])[0]?.format == "mp3")
    }

    @Test func `two sources never get the same output`() async throws {
        let sources = ["enqueue", "https://x.org/a.wav", "https://x.org/b.wav", "--to", "mp3", "--output"]
        let outcome = try await respool.run(sources + ["x.mp3"])
        #expect(outcome.exitCode == 2 && outcome.errors.contains("--output is 'x.mp3' for 2 sources"))
        for place in ["x/", "{stem}.mp3"] { #expect(try await respool.run(sources + [place]).lines.count == 2) }
    }

    @Test func `follow prints the changes of a queue, also after Redis was away`() async throws {
        _ = try await respool.run("enqueue", "https://x.org/old.wav", "--to", "mp3")
        let follow = try await ChildProcess(
            Programs.path("respool"), ["jobs", "--follow", "--json"], environment: respool.environment)
        try await eventually("the list") { follow.output.contains("waiting") }
        let id = try await respool.run("enqueue", "https://x.org/a.wav", "--to", "mp3").lines[0]
        _ = try await server.client().send(["CLIENT", "KILL", "TYPE", "normal"])
        try await finish(one: { _ in .cancelled })
        try await finish(one: { _ in .failed(.init(.noAudio, "it is silent")) })
        try await eventually("the end") { follow.output.contains("no_audio") }
        follow.kill(SIGTERM)
        let changes = try await follow.wait().lines.map { try object($0) }
        #expect(changes[0]["n"] is NSNull && changes[0]["state"] as? String == "waiting")
        #expect(changes.dropFirst().compactMap { $0["n"] as? Int } == Array(2...6))
        let own = changes.filter { $0["id"] as? String == id }
        #expect(own.map { $0["state"] as? String } == ["waiting", "running", "failed"])
        #expect(own[1]["attempt"] as? Int == 1 && own[2]["code"] as? String == "no_audio")
    }

    @Test func `follow can print one state only, as text`() async throws {
        let follow = try await ChildProcess(
            Programs.path("respool"), ["jobs", "--follow", "--state", "failed"], environment: respool.environment)
        try await eventually("it listens") {
            let clients = try await server.client().send(["CLIENT", "LIST"]).string ?? ""
            return clients.contains("cmd=xread")
        }
        let id = try await respool.run("enqueue", "https://x.org/a.wav", "--to", "mp3").lines[0]
        try await finish(one: { _ in .failed(.init(.noAudio, "it is silent")) })
        try await eventually("the failure") { follow.output.contains("no_audio") }
        follow.kill(SIGTERM)
        let lines = await follow.wait().lines
        #expect(lines.count == 1 && lines[0].hasSuffix("Z \(id) failed no_audio: it is silent (a.wav → mp3)"))
    }

    @Test func `status shows the counts of the last minute`() async throws {
        #expect(try await !respool.run("status").output.contains("minute"))
        _ = try await respool.run("enqueue", "https://x.org/1", "https://x.org/2", "--to", "mp3")
        try await finish(one: { _ in .completed([]) })
        try await finish(one: { _ in .failed(.init(.noAudio, "x")) })
        let text = try await respool.run("status").output
        #expect(text.contains(/hour +2 +1 +1 +50 % +0 +0\n/))
        let last = try object(try await respool.run("status", "--json").output)["last"] as? [String: [String: Any]]
        #expect(last?["day"]?["failure_rate"] as? Double == 0.5 && last?["minute"]?["pushed"] as? Int == 2)
    }

    @Test func `the doctor examines a queue and reports what is wrong`() async throws {
        let id = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3").lines[0]
        let sound = try await respool.run("doctor")
        #expect(sound.exitCode == 0 && !sound.output.contains("no problems found"))
        #expect(sound.output.contains("noeviction") && sound.lines.contains("3 warnings:"), "\(sound.output)")
        #expect(
            sound.output.contains("- Redis has no append-only file") && sound.output.contains("- no worker is running"))
        #expect(sound.output.contains("- proto-max-bulk-len is 537 MB"), "\(sound.output)")
        let safe = try await RedisServer(["appendonly": "yes", "appendfsync": "always", "proto-max-bulk-len": "1mb"])
        let worker = WorkerRecord(name: "host:1:test", host: "host", slots: 1, version: "test")
        _ = try await JobQueue(client: safe.client()).beat(worker: worker, jobs: [])
        #expect(try await RespoolProcess(safe).run("doctor").lines.last == "no problems found")
        let urlWorker = WorkerRecord(
            name: "host:2:test", host: "host", slots: 1, version: "test", traits: [.urlOutputs, .countedThreads])
        _ = try await JobQueue(client: safe.client()).beat(worker: urlWorker, jobs: [])
        let outputs = try await RespoolProcess(safe).run("doctor").lines.first { $0.hasPrefix("outputs ") }
        #expect(outputs?.contains("URLs at host:2:test") == true)
        let threads = try await RespoolProcess(safe).run("doctor").lines.first { $0.hasPrefix("threads ") }
        #expect(threads?.contains("counted each second") == true && threads?.hasSuffix("at host:2:test") == true)
        let limited = WorkerRecord(
            name: "host:3:test", host: "host", slots: 1, version: "test", traits: [.limitedThreads])
        _ = try await JobQueue(client: safe.client()).beat(worker: limited, jobs: [])
        #expect(try await RespoolProcess(safe).run("doctor").output.contains("(cgroup) at host:3:test"))
        let status = try await RespoolProcess(safe).run("status").lines
        #expect(status.filter { $0.contains("(only URLs)") }.map { $0.hasPrefix("host:2 ") } == [true], "\(status)")
        _ = try await server.client().send(["ZREM", "respool:{default}:ready", .text(id)])
        _ = try await server.client().send(["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"])
        let ill = try await respool.run("doctor")
        #expect(ill.exitCode == 1 && ill.output.contains("- job \(id) is waiting and not in ready\n"))
        let report = try object(try await respool.run("doctor", "--json").output)
        let findings = report["findings"] as? [String] ?? []
        #expect(findings.contains { $0.contains("allkeys-lru") } && report["workers"] as? Int == 0)
        #expect((report["server"] as? [String: Any])?["appendonly"] as? Bool == false)
        #expect(try await respool.run("doctor", "--queue", "other").exitCode == 1)
        #expect(report["mended"] is NSNull && report["left"] is NSNull)
        let dry = try await respool.run("doctor", "--repair", "--dry-run")
        #expect(dry.output.contains("- job \(id) is waiting and not in ready\n"), "\(dry)")
        let mended = try await respool.run("doctor", "--repair")
        #expect(mended.output.contains("1 repair:\n- job \(id) is waiting: it was put into ready\n"), "\(mended)")
        #expect(mended.exitCode == 1 && mended.output.contains("1 finding:\n"), "\(mended)")
        _ = try await server.client().send(["CONFIG", "SET", "maxmemory-policy", "noeviction"])
        #expect(try await respool.run("doctor", "--repair").exitCode == 0)
    }
}
