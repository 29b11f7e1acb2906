import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct RescheduleCommandTests {
    private let server: RedisServer
    private let respool: RespoolProcess
    private let queue: JobQueue

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
        queue = JobQueue(client: server.client())
    }

    @Test func `a job is delayed, brought forward, and left alone once it runs`() async throws {
        let id = try await queue.enqueue([["source": "https://x.org/a", "format": "mp3"]])[0].id
        let later = try await respool.run("reschedule", id, "--not-before", "2090-01-31T12:00:00Z", "--priority", "low")
        #expect(later.exitCode == 0 && later.lines == ["\(id) rescheduled"], "\(later)")
        #expect(try await queue.jobs([id])[0]?.state == .delayed)
        #expect(try await respool.run("reschedule", id, "--now", "--json").output.contains("\"rescheduled\""))
        #expect(try await queue.claim(count: 1, worker: "host:1:abc").jobs.map(\.id) == [id])
        let late = try await respool.run("reschedule", id, "--priority", "high")
        #expect(late.exitCode == 1 && late.output.contains("the job is running"), "\(late)")
    }

    @Test func `wrong options are refused`() async throws {
        for words in [
            [], ["1-1"], ["1-1", "--priority", "urgent"], ["1-1", "--not-before", "soon"],
            ["1-1", "--now", "--not-before", "2090-01-31T12:00:00Z"],
        ] {
            let outcome = try await respool.run(["reschedule"] + words)
            #expect(outcome.exitCode == 2, "\(words) \(outcome)")
        }
    }

    @Test func `a worker is told to be quiet, and the overview says so`() async throws {
        let unknown = try await respool.run("quiet", "host:1")
        #expect(unknown.exitCode == 1 && unknown.output.contains("unknown"), "\(unknown)")
        let record = WorkerRecord(name: "host:1:abc", host: "host", slots: 1, version: "1")
        _ = try await queue.beat(worker: record, jobs: [])
        #expect(try await respool.run("quiet", "host:1").lines == ["host:1 quiet"])
        #expect(try await respool.run("status").output.contains("host:1 (quiet)"))
        #expect(try await respool.run("quiet", "host:1", "--off").exitCode == 0)
        #expect(try await !queue.beat(worker: record, jobs: []).order.isQuiet)
    }
}
