import Lifecycle
import Redis
import SlotProtocol
import TestSupport
import Testing

@testable import Jobs
@testable import Worker

@Suite(.timeLimit(.minutes(1))) struct HeartTests {
    @Test func `beats on while the last outcomes are told again to a server that does not answer`() async throws {
        let server = try await RedisServer()
        let slow = try await RedisServer()
        let log = Log(least: .error)
        let metrics = WorkerMetrics(Metrics())
        let contact = Contact(log: log, metrics: metrics, hasSeveralQueues: false)
        let queue = JobQueue(client: server.client())
        let silent = RedisClient(url: slow.url, name: "slow", timeout: .seconds(600))
        let ledger = Ledger(queue: JobQueue(client: silent), contact: contact, metrics: metrics, log: log)
        let job = ClaimedJob(
            id: "1-0", token: "1:a", attempt: 1, attempts: 5, crashes: 0, fields: [:], createdAt: 0, commit: nil)
        #expect(await ledger.finish(job, .released, lines: []) == .stale)
        slow.freeze()
        contact.failed("beat", queue.name, QueueError.redis(.connection("the connection is cut")))
        let record = WorkerRecord(name: "host:1:a", host: "host", slots: 1, version: "1")
        let heart = Heart(
            served: ServedQueue(
                queue: queue, doorbell: Doorbell(client: BlockingRedisClient(url: server.url, name: "bell")),
                ledger: ledger), record: record,
            contact: contact, lifeSign: nil, metrics: metrics, timetable: Timetable(queue: queue, log: log),
            callbacks: nil)
        let life = Task { await heart.run() }
        var beats: Set<Double> = []
        try await eventually("three beats", within: .seconds(30)) {
            let reply = try await server.client().send(["ZSCORE", .text(queue.keys.workers), .text(record.name)])
            if let beat = reply.string.flatMap(Double.init) { beats.insert(beat) }
            return beats.count == 3
        }
        life.cancel()
        slow.thaw()
        await silent.close()
    }
}
