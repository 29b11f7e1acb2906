import Jobs
import Lifecycle
import Redis
import TestSupport
import Testing

@testable import Worker

@Suite(.failureReport, .timeLimit(.minutes(5))) struct TransitionReporterTests {
    @Test func `hundreds of outcomes are reported again in a few calls`() async throws {
        let (server, count) = (try await RedisServer(), 300)
        let client = server.client()
        let queue = JobQueue(client: client)
        let (log, metrics) = (Log(least: .error), WorkerMetrics(Metrics()))
        let health = WorkerHealth(log: log, metrics: metrics, hasSeveralQueues: false)
        let reporter = TransitionReporter(queue: queue, health: health, metrics: metrics, log: log)
        _ = try await queue.enqueue(
            Array(repeating: ["source": "https://example.org/a.flac", "format": "mp3"], count: count))
        let jobs = try await queue.claim(count: count, worker: "host:1:a").jobs
        _ = try await client.send(["SAVE"])
        await withDiscardingTaskGroup { group in
            for job in jobs { group.addTask { _ = await reporter.finish(job, .completed([]), lines: []) } }
        }
        #expect(try await queue.stats()[.completed] == count)
        try await server.restart()
        // Until the client has noticed.
        try await eventually("Redis answers") { (try? await queue.stats()[.running]) == count }
        let before = try await client.scriptCount()
        await reporter.resend()
        #expect(try await client.scriptCount() - before < 20)
        #expect(try await queue.stats()[.completed] == count)
        await client.close()
    }
}
