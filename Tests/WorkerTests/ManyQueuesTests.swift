import Foundation
import HTTPServer
import JobSchema
import Jobs
import Lifecycle
import Redis
import TestSupport
import Testing

@testable import Worker
@testable import respoold

/// A worker that serves several queues.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ManyQueuesTests {
    @Test func `strict order always takes from an earlier queue first`() async throws {
        let order = try await self.order("urgent,default", [("default", 3), ("urgent", 3)])
        #expect(order == ["urgent", "urgent", "urgent", "default", "default", "default"])
    }

    @Test func `weights share a slot exactly`() async throws {
        let order = try await self.order("a:3,b:1", [("b", 6), ("a", 6)])
        #expect(order.prefix(8).count { $0 == "a" } == 6)
        #expect(order.prefix(4).count { $0 == "a" } == 3)
        #expect(order.suffix(4).allSatisfy { $0 == "b" })
    }

    /// Runs jobs that were pushed before a worker with one slot starts, and answers their queues in the order of their turn.
    private func order(_ names: String, _ jobs: [(queue: String, count: Int)]) async throws -> [String] {
        let shop = try await Workshop()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        var pushed: [(JobQueue, String)] = []
        for (name, count) in jobs {
            let queue = try shop.queue(name)
            for number in 0..<count {
                let output = "\(name)-\(number).flac"
                let id = try await shop.push(["source": source, "format": "flac", "output": output], to: queue)
                pushed.append((queue, id))
            }
        }
        let worker = try await shop.worker(["RESPOOL_QUEUE": names])
        var started: [(name: String, time: Int64)] = []
        for (queue, id) in pushed {
            try await eventually("job \(id) of \(queue.name.text) completes") {
                try await queue.jobs([id])[0]?.state == .completed
            }
            let time = try #require(try await queue.jobs([id])[0]?.startedAt)
            started.append((queue.name.text, time))
        }
        // Not before: the audit reads key by key, and takes a job that goes on meanwhile for a wrong one.
        for (name, _) in jobs { #expect(try await QueueAudit(shop.queue(name)).problems() == []) }
        #expect(worker.isRunning)
        return started.sorted { $0.time < $1.time }.map(\.name)
    }

    @Test func `a worker stays with a queue whose claim passed over many jobs before it asks the next`() async throws {
        let shop = try await Workshop()
        let plain = ["source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac"]
        let (urgent, other) = (try shop.queue("urgent"), try shop.queue("default"))
        let held = Array(repeating: plain.merging(["limit_key": "k"]) { $1 }, count: 80)
        let ids = try await urgent.enqueue([plain] + held + [plain]).map(\.id)
        try await urgent.setLimit(0, key: "k")
        let late = try await other.enqueue([plain])[0].id
        let worker = try await shop.worker(["RESPOOL_QUEUE": "urgent,default", "RESPOOL_SLOTS": "2"])
        var times: [Int64] = []
        for (queue, id) in [(urgent, ids[0]), (urgent, ids[81]), (other, late)] {
            try await eventually("job \(id) completes") {
                try await queue.jobs([id])[0]?.state == .completed
            }
            times.append(try #require(try await queue.jobs([id])[0]?.startedAt))
        }
        #expect(times == times.sorted() && times[1] < times[2])
        #expect(try await urgent.stats()[.waiting] == 80 && worker.isRunning)
    }

    @Test func `jobs of the same id are kept apart, and each queue is heard while another is paused`() async throws {
        let shop = try await Workshop()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let worker = try await shop.worker(["RESPOOL_QUEUE": "a,b", "RESPOOL_SLOTS": "4"])
        let (a, b) = (try shop.queue("a"), try shop.queue("b"))
        for queue in [a, b] {
            let output = "\(queue.name.text).flac"
            let id = try await shop.push(
                ["source": source, "format": "flac", "output": output], to: queue, id: "1700000000000-1")
            #expect(id == "1700000000000-1")
        }
        for queue in [a, b] {
            try await eventually("the job of \(queue.name.text) completes") {
                try await queue.jobs(["1700000000000-1"])[0]?.state == .completed
            }
        }
        #expect(Set(shop.outputs) == ["a.flac", "b.flac"])
        try await a.pause()
        let late = try await shop.push(["source": source, "format": "flac"], to: a)
        let next = try await shop.push(["source": source, "format": "flac"], to: b)
        try await eventually("the job of b completes") {
            try await b.jobs([next])[0]?.state == .completed
        }
        let waiting = try await a.jobs([late])[0]?.state
        #expect(waiting == .waiting || waiting == .queued)
        worker.kill(SIGTERM)
        #expect(await worker.wait().exitCode == 0)
        #expect(try await a.workers().isEmpty)
        #expect(try await b.workers().isEmpty)
    }

    @Test(arguments: [
        ("a,b,a", "is given twice"), ("a:3,b", "some queues only"), ("a:0,b:1", "from 1 to 1000"),
        ("a:x", "from 1 to 1000"), ("a,,b", "1 to 64 of"), ("", "1 to 64 of"), ("a b", "1 to 64 of"),
    ])
    func `an impossible order of queues is refused`(_ text: String, _ words: String) throws {
        do throws(Failure) {
            _ = try QueueOrder(text)
            Issue.record("`\(text)` was taken")
        } catch {
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test func `a worker is not ready while one of its queues is silent, and names it`() throws {
        let metrics = WorkerMetrics(Metrics())
        let health = WorkerHealth(log: Log(least: .error), metrics: metrics, hasSeveralQueues: true)
        let (a, b) = (try QueueName("a"), try QueueName("b"))
        health.answered(a)
        health.failed("claim", b, QueueError.unexpectedAnswer(script: "claim", "x"))
        health.answered(a)
        #expect(health.silentQueues(for: .zero) == [b])
        #expect(health.silentQueues().isEmpty && health.isReady())
        #expect(health.answered(b))
        #expect(health.silentQueues(for: .zero).isEmpty)
    }

    @Test func `the readiness page names a silent queue`() async throws {
        let metrics = Metrics()
        let health = WorkerHealth(log: Log(least: .error), metrics: WorkerMetrics(metrics), hasSeveralQueues: true)
        let (a, b) = (try QueueName("a"), try QueueName("b"))
        health.answered(a)
        health.failed("claim", b, QueueError.unexpectedAnswer(script: "claim", "x"))
        func ask(_ silence: Duration) async throws -> String {
            let listener = try HTTPListener(
                on: #require(ListenAddress("127.0.0.1:0")),
                service: WorkerRoutes.routes(health: health, metrics: metrics, longestSilence: silence))
            return try await ChildProcess.run(
                "curl", ["-sS", "-w", "%{http_code}", "http://127.0.0.1:\(listener.port)/readyz"]
            ).output
        }
        #expect(try await ask(.zero) == "Redis does not respond for the queue `b`\n503")
        #expect(try await ask(.seconds(3600)) == "ok\n200")
        health.drains()
        #expect(try await ask(.seconds(3600)) == "draining, or Redis does not respond\n503")
    }

    @Test func `queues that have jobs take turns by weight`() throws {
        var rotation = QueueRotation(try QueueOrder("a:5,b:2,c:1"))
        var turns = [0, 0, 0]
        for _ in 0..<80 {
            guard let turn = rotation.next(among: [0, 1, 2], free: 1) else { break }
            turns[turn.queue] += turn.count
        }
        #expect(turns == [50, 20, 10])
        // Of eight free slots, each queue gets its share in one claim.
        for _ in 0..<10 {
            var (free, claims) = (8, [[Int]]())
            while let turn = rotation.next(among: [0, 1, 2], free: free) {
                claims.append([turn.queue, turn.count])
                free -= turn.count
            }
            #expect(claims == [[0, 5], [1, 2], [2, 1]])
        }
        // Turns for which a queue had no jobs are not lost to it.
        for _ in 0..<3 {
            let turn = rotation.next(among: [0, 1], free: 7)
            #expect(turn?.queue == 0)
            #expect(turn?.count == 5)
            rotation.giveBack(5, of: 0, among: [0, 1])
        }
        let alone = rotation.next(among: [2], free: 3)
        #expect(alone?.queue == 2)
        #expect(alone?.count == 3)
        let none = (rotation.next(among: [], free: 3), rotation.next(among: [0], free: 0))
        #expect(none.0 == nil)
        #expect(none.1 == nil)
        var strict = QueueRotation(try QueueOrder("a,b"))
        for _ in 0..<5 {
            let turn = strict.next(among: [0, 1], free: 2)
            #expect(turn?.queue == 0)
            #expect(turn?.count == 2)
        }
    }
}
