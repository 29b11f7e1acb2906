import Foundation
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct GroupCommandTests {
    private let server: RedisServer
    private let respool: RespoolProcess
    private let queue: JobQueue

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
        queue = JobQueue(client: server.client())
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Takes jobs, as a worker would, and ends them.
    private func finish(_ outcomes: Jobs.Outcome...) async throws {
        let jobs = try await queue.claim(count: outcomes.count, worker: "host:1:test").jobs
        for (job, outcome) in zip(jobs, outcomes) {
            _ = try await queue.finish(id: job.id, token: job.token, outcome: outcome)
        }
    }

    @Test func `the jobs of a group are pushed, watched and listed together`() async throws {
        let sources = (1...4).map { "https://x.org/\($0)" }
        let pushed = try await respool.run(["enqueue"] + sources + ["--to", "mp3", "--group", "night"])
        let more = try await respool.run(
            ["enqueue", "--batch", "-", "--group", "night", "--seal"],
            input: #"{"source":"https://x.org/5","format":"mp3"}"# + "\n")
        #expect(pushed.lines.count == 4 && more.lines.count == 1)
        let late = try await respool.run("enqueue", sources[0], "--to", "mp3", "--group", "night")
        #expect(late.exitCode == 2 && late.errors.contains("the group `night` is sealed"))
        let several = try await respool.run(["enqueue"] + sources + ["--to", "mp3", "--group", "night"])
        #expect(several.exitCode == 2 && several.errors.contains("(rejects 4 of these 4 jobs)"))
        let watch = try await ChildProcess(
            Programs.path("respool"), ["status", "--group", "night", "--watch"], environment: respool.environment)
        try await eventually("the first line") { watch.output.contains("5 left (5 waiting)") }
        try await finish(.completed([]), .completed([]), .failed(Failure(.noAudio, "x")), .cancelled)
        let json = try object(try await respool.run("status", "--group", "night", "--json").output)
        #expect(json["total"] as? Int == 5 && json["completed"] as? Int == 2 && json["failed"] as? Int == 1)
        #expect(json["left"] as? Int == 1 && json["sealed"] as? Bool == true && json["finished_at"] is NSNull)
        #expect((json["jobs_per_second"] as? Double ?? 0) > 0 && (json["eta"] as? Double ?? 0) > 0)
        let list = try await respool.run("jobs", "--group", "night", "--json").lines.map { try object($0) }
        #expect(list.map { $0["state"] as? String } == ["waiting", "failed", "cancelled", "completed", "completed"])
        #expect(list.allSatisfy { $0["group"] as? String == "night" })
        let failed = try await respool.run("jobs", "--group", "night", "--state", "failed", "--json").lines
        #expect(failed.count == 1)
        try await finish(.completed([]))
        let outcome = await watch.wait()
        #expect(outcome.exitCode == 1)
        #expect(outcome.output.contains("group night, 5 jobs: over"))
        #expect(outcome.output.contains("3 done  1 failed  1 cancelled  0 left"), "\(outcome.output)")
    }

    @Test func `watch shows the seal and the end of a group, as text and as JSON`() async throws {
        let (text, json) = (
            try await ChildProcess(
                Programs.path("respool"), ["jobs", "--follow"], environment: respool.environment),
            try await ChildProcess(
                Programs.path("respool"), ["jobs", "--follow", "--json"], environment: respool.environment)
        )
        for follower in [text, json] {
            try await eventually("it listens") {
                let clients = try await server.client().send(["CLIENT", "LIST"]).string ?? ""
                return clients.split(separator: "\n").count { $0.contains("cmd=xread") } == 2 || !follower.isRunning
            }
        }
        _ = try await respool.run("enqueue", "https://x.org/1", "--to", "mp3", "--group", "g", "--seal")
        try await finish(.failed(Failure(.noAudio, "x")))
        for follower in [text, json] {
            try await eventually("the end") {
                follower.output.contains("group_ended") || follower.output.contains("has finished")
            }
            follower.kill(SIGTERM)
        }
        let lines = await text.wait().lines
        #expect(lines.contains { $0.hasSuffix("Z the group g is sealed") })
        #expect(lines.last?.hasSuffix("Z the group g has finished: 0 completed, 1 failed, 0 cancelled") == true)
        let end = try object(try #require(await json.wait().lines.last))
        #expect(
            end["state"] as? String == "group_ended" && end["group"] as? String == "g" && end["id"] as? String == "")
        #expect(end["completed"] as? Int == 0 && end["failed"] as? Int == 1 && end["cancelled"] as? Int == 0)
    }

    @Test func `sealing a group fails if all its jobs were duplicates`() async throws {
        let arguments = ["enqueue", "https://x.org/1", "--to", "mp3", "--dedup", "d"]
        let first = try await respool.run(arguments)
        let again = try await respool.run(arguments + ["--group", "late", "--seal"])
        #expect(again.exitCode == 0 && again.lines == first.lines)
        #expect(again.errors.contains("all jobs are duplicates, which join no group"))
        #expect(try await queue.group("late") == nil)
    }

    @Test func `a group is cancelled, and its jobs that failed with one code are retried`() async throws {
        let ids = try await respool.run(
            "enqueue", "https://x.org/1", "https://x.org/2", "https://x.org/3", "--to", "mp3", "--group", "g"
        ).lines
        let other = try await respool.run("enqueue", "https://x.org/4", "--to", "mp3").lines
        try await finish(.failed(Failure(.noAudio, "x")), .failed(Failure(.corruptMedia, "x")))
        #expect(try await respool.run("cancel", "--group", "g", "--yes").lines == ["\(ids[2]) cancelled"])
        #expect(try await respool.run("cancel", "--group", "g", "--yes").output == "")
        let retried = try await respool.run(
            "retry", "--group", "g", "--failed-with", "no_audio", "--set", "format=wav", "--yes")
        #expect(retried.exitCode == 0 && retried.lines == ["\(ids[0]) retried"])
        #expect(try await queue.jobs([ids[0]])[0]?.format == "wav")
        try await finish(.failed(Failure(.corruptMedia, "x")))
        #expect(try await queue.jobs(other)[0]?.state == .failed)
        let all = try await respool.run("retry", "--failed-with", "corrupt_media", "--yes")
        #expect(Set(all.lines) == ["\(ids[1]) retried", "\(other[0]) retried"])
        let none = try await respool.run("cancel", "--group", "nobody", "--yes")
        #expect(none.exitCode == 1 && none.errors.contains("there is no group 'nobody'"))
    }

    @Test func `the limit command sets and shows how many jobs of a key run at once`() async throws {
        #expect(try await respool.run("limit", "x.org", "1").exitCode == 0)
        #expect(try await respool.run("limit", "--default", "7", "--default-rate", "30").exitCode == 0)
        _ = try await respool.run(
            "enqueue", "https://x.org/1", "https://x.org/2", "https://x.org/3", "--to", "mp3", "--limit-key", "x.org")
        let jobs = try await queue.claim(count: 5, worker: "host:1:test").jobs
        #expect(jobs.count == 1)
        let table = try await respool.run("limit").lines.map { $0.split(separator: " ").map(String.init) }
        #expect(
            table == [
                ["KEY", "LIMIT", "RATE", "RUNNING", "WAITING"], ["x.org", "1", "30/min", "1", "2"],
                ["(other", "keys)", "7", "30/min"],
            ])
        let json = try object(try await respool.run("limit", "another:80", "--json").output)
        #expect(json["limit"] as? Int == 7 && json["running"] as? Int == 0 && json["key"] as? String == "another:80")
        let list = try await respool.run("jobs", "--state", "waiting").output
        #expect(list.contains("waiting for a permit of its limit_key"))
        #expect(json["rate"] as? Int == 30)
        #expect(try await respool.run("limit", "x.org", "off", "--rate", "1").exitCode == 0)
        let key = try await queue.limits().keys.first
        #expect(key?.name == "x.org" && key?.number == nil && key?.rate == 1 && key?.running == 1)
        #expect(try await respool.run("limit", "--default", "off", "--default-rate", "off").exitCode == 0)
        #expect(try await respool.run("limit", "x.org", "--rate", "off").exitCode == 0)
        #expect(try await queue.claim(count: 5, worker: "host:1:test").jobs.count == 2)
    }
}
