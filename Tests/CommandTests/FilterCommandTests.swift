import Foundation
import JobSchema
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct FilterCommandTests {
    private let server: RedisServer
    private let respool: RespoolProcess
    private let queue: JobQueue

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
        queue = JobQueue(client: server.client())
    }

    private func push(_ source: String, _ more: [String: String] = [:]) async throws -> String {
        try await queue.enqueue([["source": source, "format": "mp3"].merging(more) { $1 }])[0].id
    }

    /// Takes jobs as a worker, and ends them with a failure.
    private func fail(_ count: Int, _ code: ErrorCode, worker: String = "host:1:abc") async throws {
        for job in try await queue.claim(count: count, worker: worker).jobs {
            _ = try await queue.finish(id: job.id, token: job.token, outcome: .failed(Failure(code, "x")))
        }
    }

    private func found(_ words: String...) async throws -> Set<String> {
        let lines = try await respool.run(["jobs", "--json"] + words).lines
        return Set(
            try lines.map { line in
                let job = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return try #require(job?["id"] as? String)
            })
    }

    @Test func `jobs are found by each filter, and by several at once`() async throws {
        let first = try await push("https://x.org/a.flac", ["limit_key": "k", "group": "g"])
        try await fail(1, .noAudio)
        let second = try await push("https://x.org/b.flac?token=secret", ["group": "g"])
        try await fail(1, .corruptMedia, worker: "other:2:abc")
        let third = try await push("https://y.org/b.flac", ["limit_key": "k"])
        #expect(try await found("--code", "no_audio") == [first])
        #expect(try await found("--limit-key", "k") == [first, third])
        #expect(try await found("--limit-key", "k", "--state", "failed") == [first])
        #expect(try await found("--worker", "other:2") == [second])
        #expect(try await found("--worker", "other:2:abc") == [second])
        #expect(try await found("--source", "https://x.org/") == [first, second])
        #expect(try await found("--query", "b.flac") == [second, third])
        #expect(try await found("--query", "secret") == [])
        #expect(try await found("--query", third) == [third])
        #expect(try await found("--group", "g", "--code", "corrupt_media") == [second])
        #expect(try await found("--older-than", "3600") == [])
        #expect(try await found("--older-than", "0", "--limit", "1") == [third])
        #expect(try await respool.run("jobs", "--query", "nowhere").errors == "respool: no job matches\n")
    }

    @Test func `only the jobs of a filter are changed, after --yes alone`() async throws {
        let own = try await push("https://x.org/a.flac")
        let other = try await push("https://y.org/a.flac")
        let filter = ["--source", "https://x.org/"]
        let refused = try await respool.run(["cancel"] + filter)
        #expect(refused.exitCode == 2 && refused.errors.contains("--yes is missing"), "\(refused)")
        let dry = try await respool.run(["cancel", "--dry-run"] + filter)
        #expect(dry.exitCode == 0 && dry.lines.first == "1 job" && dry.output.contains(own), "\(dry)")
        let json = try await respool.run(["cancel", "--dry-run", "--json"] + filter).lines
        #expect(json.count == 1 && json[0].hasPrefix(#"{"matched":1,"#), "\(json)")
        #expect(try await queue.jobs([own, other]).map { $0?.state } == [.waiting, .waiting])
        #expect(try await respool.run(["cancel", "--yes"] + filter).lines == ["\(own) cancelled"])
        #expect(try await queue.jobs([own, other]).map { $0?.state } == [.cancelled, .waiting])
        // A retry is for failed jobs, unless the cancelled ones are named.
        #expect(try await respool.run(["retry", "--yes"] + filter).output == "")
        let retried = try await respool.run(["retry", "--yes", "--state", "cancelled"] + filter)
        #expect(retried.lines == ["\(own) retried"])
    }

    @Test func `a purge by filter spares running jobs and those of others`() async throws {
        let running = try await push("https://x.org/a.flac", ["priority": "high"])
        _ = try await queue.claim(count: 1, worker: "host:1:abc")
        let own = try await push("https://x.org/a.flac")
        let other = try await push("https://y.org/a.flac")
        let purged = try await respool.run("purge", "--source", "https://x.org/", "--yes")
        #expect(purged.exitCode == 0 && purged.output == "1\n", "\(purged)")
        #expect(try await queue.jobs([running, own, other]).map { $0?.state } == [.running, nil, .waiting])
        let late = try await respool.run("purge", running, other)
        #expect(late.exitCode == 1 && late.output == "1\n", "\(late)")
        #expect(late.errors == "respool: \(running) wrong state: the job is running: cancel it first\n", "\(late)")
    }

    @Test func `somebody at a terminal is asked, and shown some of the jobs`() async throws {
        let ids = [try await push("https://x.org/a.flac"), try await push("https://x.org/a.flac")]
        let no = try await respool.runOnTerminal(["cancel", "--state", "waiting"], input: "n\n")
        #expect(no.exitCode == 1, "\(no)")
        #expect(no.output.contains("cancel 2 jobs? [y/N]") && no.output.contains(ids[0]), "\(no)")
        #expect(no.output.contains("nothing was changed"), "\(no)")
        #expect(try await queue.jobs(ids).allSatisfy { $0?.state == .waiting })
        let yes = try await respool.runOnTerminal(["cancel", "--state", "waiting"], input: "y\n")
        #expect(yes.exitCode == 0, "\(yes)")
        #expect(try await queue.jobs(ids).allSatisfy { $0?.state == .cancelled })
    }
}
