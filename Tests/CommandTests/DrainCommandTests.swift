import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct DrainCommandTests {
    private let server: RedisServer
    private let respool: RespoolProcess
    private let queue: JobQueue
    private let job: ClaimedJob

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
        queue = JobQueue(client: server.client())
        _ = try await queue.enqueue(Array(repeating: ["source": "https://x.org/a", "format": "mp3"], count: 2))
        job = try #require(try await queue.claim(count: 1, worker: "host:1:test").jobs.first)
    }

    private func drain() async throws -> ChildProcess {
        let child = try await ChildProcess(
            Programs.path("respool"), ["pause", "--wait"], environment: respool.environment)
        try await eventually("the drain waits") { child.errors.contains("1 job still running") }
        return child
    }

    @Test func `drain waits until running jobs finish, and no other job starts`() async throws {
        let child = try await drain()
        #expect(try await queue.claim(count: 1, worker: "host:1:test").isPaused)
        _ = try await queue.finish(id: job.id, token: job.token, outcome: .completed([]))
        try await eventually("the drain ends") { !child.isRunning }
        #expect(await child.wait().exitCode == 0)
        #expect(try await queue.stats()[.waiting] == 1)
    }

    @Test func `drain gives up at its timeout and leaves the queue paused`() async throws {
        let outcome = try await respool.run("pause", "--wait", "--timeout", "0")
        #expect(outcome.exitCode == 1 && outcome.errors.contains("the queue stays paused"), "\(outcome.errors)")
        #expect(try await queue.stats().isPaused)
        #expect(try await respool.run("pause", "--timeout", "5").exitCode == 2)
    }

    @Test func `a queue without workers and jobs is paused with a warning`() async throws {
        let other = try await respool.run("pause", "--wait", "--queue", "nosuch")
        #expect(other.exitCode == 0)
        #expect(other.errors.contains("the queue 'nosuch' has no worker and no job"), "\(other.errors)")
        #expect(try await JobQueue(client: server.client(), name: QueueName("nosuch")).stats().isPaused)
        #expect(try await respool.run("pause").errors == "")
    }

    @Test func `drain stops waiting when the queue is resumed`() async throws {
        let child = try await drain()
        try await queue.resume()
        try await eventually("the drain ends") { !child.isRunning }
        let outcome = await child.wait()
        #expect(outcome.exitCode == 1 && outcome.errors.contains("the queue was resumed"))
    }
}
