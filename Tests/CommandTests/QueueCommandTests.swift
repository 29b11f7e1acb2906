import Foundation
import Jobs
import Redis
import SlotProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct QueueCommandTests {
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

    @Test func `prints the ids of jobs in the order of their sources`() async throws {
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

    @Test func `tells a duplicate by the first one's id`() async throws {
        let first = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--dedup", "k", "--json")
        let second = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--dedup", "k", "--json")
        let (one, two) = (try object(first.output), try object(second.output))
        #expect(one["id"] as? String == two["id"] as? String)
        #expect(one["duplicate"] as? Bool == false && two["duplicate"] as? Bool == true)
    }

    @Test func `shows jobs, for people and for programs`() async throws {
        let id = try await respool.run("enqueue", "https://u:p@x.org/talk.flac?sig=s3cret", "--to", "opus").lines[0]
        let json = try object(try await respool.run("status", id, "--json").output)
        #expect(json["id"] as? String == id)
        #expect(json["state"] as? String == "waiting")
        #expect(json["error"] is NSNull && json["outputs"] is NSNull && json["finished_at"] is NSNull)
        let text = try await respool.run("status", id).output
        #expect(text.contains(id) && text.contains("waiting (try 0 of 5, priority normal)"))
        #expect(!text.contains("s3cret") && !text.contains("\u{1b}"))
        let list = try await respool.run("jobs", "--state", "waiting")
        #expect(list.lines.count == 2 && list.lines[1].hasPrefix(id) && list.output.contains("talk.flac → opus"))
        #expect(try await respool.run("jobs", "--state", "failed").output == "")
        let log = try await respool.run("logs", id)
        #expect(log.exitCode == 0 && log.output == "" && log.errors.contains("'\(id)' has left no log"))
    }

    @Test func `knows when an id is nobody's`() async throws {
        for words in [["status"], ["status", "--watch"], ["cancel"], ["retry"], ["logs"]] {
            let outcome = try await respool.run(words + ["1-0"])
            #expect(outcome.exitCode == 1, "\(words)")
            #expect((outcome.errors + outcome.output).contains("1-0"), "\(words)")
        }
    }

    @Test func `cancels and retries, and says when it is too late`() async throws {
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
        #expect(try await respool.run("purge", "--state", "cancelled").output == "1\n")
        #expect(try await queue.jobs(ids)[1] == nil)
    }

    @Test func `pauses and resumes, and shows the queue at a glance`() async throws {
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

    @Test func `keeps queues apart`() async throws {
        let id = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--queue", "other").lines[0]
        #expect(try await respool.run("status", id).exitCode == 1)
        #expect(try await respool.run("status", id, "--queue", "other").exitCode == 0)
        let other = RespoolProcess(server, environment: ["RESPOOL_QUEUE": "other"])
        #expect(try await other.run("status", id).exitCode == 0)
    }

    @Test func `waits until jobs are over and tells by its status how they ended`() async throws {
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

    @Test func `watches jobs line by line without a terminal`() async throws {
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
}
