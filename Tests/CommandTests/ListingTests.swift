import Foundation
import JobSchema
import Jobs
import MediaTypes
import TestSupport
import Testing

/// What lists of jobs show at the width of an ordinary terminal, and what programs read.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ListingTests {
    private let server: RedisServer
    private let respool: RespoolProcess
    private let name = "a-very-long-name-of-a-recording-that-somebody-chose-in-nineteen-ninety-nine.flac"

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
    }

    private var queue: JobQueue { JobQueue(client: server.client()) }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func push(_ count: Int) async throws -> [String] {
        let sources = Array(repeating: "https://x.org/\(name)", count: count)
        return try await respool.run(["enqueue"] + sources + ["--to", "mp3"]).lines
    }

    private func fail(_ jobs: [ClaimedJob], _ failure: Failure) async throws {
        for job in jobs { _ = try await queue.finish(id: job.id, token: job.token, outcome: .failed(failure)) }
    }

    /// The lines that a terminal shows, without colours.
    private func screen(_ outcome: TestSupport.Outcome) -> [String] {
        outcome.output.replacing(/\u{1b}\[[?0-9;]*[a-zA-Z]/, with: "").split(whereSeparator: \.isNewline)
            .map { String($0) }
    }

    @Test func `a long name leaves room for why a job failed, at 80 columns`() async throws {
        let ids = try await push(1)
        let jobs = try await queue.claim(count: 1, worker: "host:1:test").jobs
        try await fail(jobs, Failure(.sourceNotFound, "there is no such file"))
        let lines = screen(try await respool.runOnTerminal(["jobs", "--state", "failed"], columns: 80))
        let line = try #require(lines.first { $0.hasPrefix(ids[0]) })
        #expect(line.count <= 80 && line.contains("source_not_found"), "\(lines)")
        #expect(!lines[0].contains("STATE"))
        let piped = try await respool.run("jobs", "--state", "failed").lines
        #expect(piped[0].contains("STATE") && piped[1].contains(name) && piped[1].hasSuffix("there is no such file"))
    }

    @Test func `watched jobs of one name are distinguished and counted`() async throws {
        let ids = try await push(3)
        let jobs = try await queue.claim(count: 2, worker: "host:1:test").jobs
        let worker = WorkerRecord(name: "host:1:test", host: "host", slots: 2, version: "test")
        let progress = Progress(phase: .converting, position: 30, duration: 60, fraction: 0.5, speed: 12, eta: 3)
        _ = try await queue.beat(
            worker: worker, jobs: jobs.map { Heartbeat(id: $0.id, token: $0.token, progress: progress) })
        let watch = try await respool.startOnTerminal(["status", "--watch"] + ids, columns: 80)
        try await eventually("the bars are drawn") { watch.output.contains("running, 1 left") }
        for job in jobs { _ = try await queue.finish(id: job.id, token: job.token, outcome: .cancelled) }
        _ = try await queue.cancel(Array(ids.suffix(1)))
        let lines = screen(await watch.wait())
        for job in jobs {
            let line = try #require(lines.first { $0.hasPrefix(job.id) && $0.contains("50 %") }, "\(lines)")
            #expect(line.count <= 80 && line.hasSuffix("0:03 left"), "\(line)")
            #expect(line.count { "█▌░".contains($0) } >= 10, "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix("total ") && $0.contains("33 %  2 running, 1 left") }, "\(lines)")
    }

    @Test func `all failed or cancelled jobs are retried by their state`() async throws {
        let ids = try await push(3)
        try await fail(try await queue.claim(count: 2, worker: "host:1:test").jobs, Failure(.noAudio, "it is silent"))
        _ = try await queue.cancel([ids[2]])
        let failed = try await respool.run("retry", "--state", "failed", "--yes")
        #expect(failed.exitCode == 0 && Set(failed.lines) == Set(ids[0...1].map { "\($0) retried" }))
        #expect(try await respool.run("retry", "--state", "cancelled", "--yes").lines == ["\(ids[2]) retried"])
        #expect(try await queue.jobs(ids).allSatisfy { $0?.state == .waiting })
        let wrong = try await respool.run("retry", "--state", "faild")
        #expect(wrong.exitCode == 2 && wrong.errors.contains("'faild' (did you mean `failed`?)"), "\(wrong.errors)")
        #expect(try await respool.run("retry", "--state", "cancelled", "--failed-with", "timeout").exitCode == 2)
    }

    @Test func `a delayed job shows when it is due`() async throws {
        let id = try await respool.run("enqueue", "https://x.org/a", "--to", "mp3", "--delay", "3600").lines[0]
        let job = try object(try await respool.run("status", id, "--json").output)
        let due = try #require(job["due_at"] as? String)
        let created = try #require(job["created_at"] as? String)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let wait = try style.parse(due).timeIntervalSince(try style.parse(created))
        #expect(abs(wait - 3600) < 1)
        let other = try await respool.run("enqueue", "https://x.org/a", "--to", "mp3").lines[0]
        #expect(try object(try await respool.run("status", other, "--json").output)["due_at"] is NSNull)
    }
}
