import JobSchema
import Lifecycle
import Redis
import TestSupport
import Testing

@testable import Jobs
@testable import Worker

/// What goes on while the last outcomes are told again to a server that does not answer.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ResendingTests {
    private let server: RedisServer
    private let silent: RedisServer
    private let unheard: RedisClient
    private let log = Log(least: .error)
    private let metrics = WorkerMetrics(Metrics())
    private let health: WorkerHealth
    private let served: ServedQueue

    init() async throws {
        server = try await RedisServer()
        silent = try await RedisServer()
        unheard = RedisClient(url: silent.url, name: "silent", timeout: .seconds(600))
        health = WorkerHealth(log: log, metrics: metrics, hasSeveralQueues: false)
        served = ServedQueue(
            queue: JobQueue(client: server.client()),
            doorbell: Doorbell(client: BlockingRedisClient(url: server.url, name: "bell")),
            reporter: TransitionReporter(queue: JobQueue(client: unheard), health: health, metrics: metrics, log: log),
            lostLeases: LostLeaseLog(metrics: metrics, log: log))
        let job = ClaimedJob(
            id: "1-0", token: "1:a", attempt: 1, attempts: 5, crashes: 0, fields: [:], createdAt: 0, commit: nil)
        #expect(await served.reporter.finish(job, .released, lines: []) == .stale)
        silent.freeze()
        health.failed("beat", served.queue.name, QueueError.redis(.connection("the connection is cut")))
    }

    /// Waits until the server has run so many scripts.
    private func hasRun(_ count: Int) async throws {
        let client = server.client()
        try await eventually("\(count) scripts") {
            try await client.scriptCount() >= count
        }
        await client.close()
    }

    private func close() async {
        silent.thaw()
        await unheard.close()
    }

    @Test func `the heartbeat goes on while outcomes are resent`() async throws {
        let record = WorkerRecord(name: "host:1:a", host: "host", slots: 1, version: "1")
        let loop = HeartbeatLoop(
            served: served, record: record, health: health, heartbeatFile: nil, metrics: metrics,
            scheduleRunner: ScheduleRunner(queue: served.queue, log: log), callbacks: nil, log: log)
        let life = Task { await loop.run() }
        try await hasRun(3)
        life.cancel()
        await close()
    }

    @Test func `the intake goes on while outcomes are resent`() async throws {
        let worker = JobWorker(
            [served], health: health, configuration: WorkerConfiguration(slots: 1), metrics: metrics, log: log)
        let intake = Task { await worker.runJobs() }
        try await hasRun(3)
        await worker.drain()
        await close()
        await intake.value
    }
}
