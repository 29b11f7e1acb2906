import JobSchema
import Jobs
import Redis
import Synchronization
import TestSupport
import Testing

/// Errors inside scripts, at each command: Redis undoes nothing, and a worker repairs what is left.
@Suite(.failureReport, .timeLimit(.minutes(10))) struct InterruptedScriptTests {
    /// A queue with jobs in every state, of which some have all that a job can have.
    private struct Scene {
        let fixture: QueueFixture
        /// The queue, whose scripts fail at the command whose number is in `fault`.
        let queue: JobQueue
        let running: [ClaimedJob]
        let waiting: String
        let delayed: String
        let failed: String
        let callback: Callback
    }

    private typealias Call = @Sendable (Scene) async throws -> Void

    private static let rich = QueueFixture.job.merging([
        "group": "g", "limit_key": "k", "callback": "https://x.org/c", "deadline": "2099-01-01T00:00:00Z",
    ]) { $1 }
    private static let commit = QueueFixture.commit
    /// A run takes every fourth command, from any of the first four on: all of them would be the most expensive test of all.
    private static let step = 4

    private static let calls: KeyValuePairs<String, Call> = [
        "enqueue": { _ = try await $0.queue.enqueue([rich.merging(["dedup": "e"]) { $1 }, QueueFixture.job]) },
        "admit": { _ = try await $0.queue.runMaintenance() },
        "claim": { _ = try await $0.queue.claim(count: 5, worker: "other:1:a") },
        "beat": { scene in
            try await scene.fixture.endLeases()
            _ = try await scene.queue.beat(worker: WorkerRecord(name: "b", host: "h", slots: 1, version: "1"), jobs: [])
        },
        "publish": { _ = try await $0.queue.publish(id: $0.running[1].id, token: $0.running[1].token, record: commit) },
        "completed": { _ = try await finish($0, .completed([QueueFixture.report])) },
        "failed": { _ = try await finish($0, .failed(Failure(.noAudio, "x"))) },
        "delayed": { _ = try await finish($0, .failed(Failure(.timeout, "x", retryAfter: 60))) },
        "crashed": { _ = try await finish($0, .crashed(Failure(.crashed, "x"))) },
        "released": { _ = try await finish($0, .released) },
        "cancelled": { _ = try await finish($0, .cancelled) },
        "cancel": { _ = try await $0.queue.cancel([$0.waiting, $0.delayed, $0.running[0].id]) },
        "retry": { _ = try await $0.queue.retry([$0.failed, $0.delayed]) },
        "reschedule": { _ = try await $0.queue.reschedule([$0.waiting, $0.delayed], priority: .high) },
        "pause": { _ = try await $0.queue.pause() },
        "limit": { _ = try await $0.queue.setLimit(3, key: "k") },
        "rate": { _ = try await $0.queue.setRate(3, key: "k") },
        "seal": { _ = try await $0.queue.seal("g", callback: "https://x.org/g") },
        "schedule": {
            _ = try await $0.queue.putSchedule(
                "s", try Recurrence("30 2 * * *", zone: "Europe/Berlin"), fields: QueueFixture.job)
        },
        "claim_callbacks": { _ = try await $0.queue.claimCallbacks(count: 4) },
        "finish_callback": {
            _ = try await $0.queue.finishCallback($0.callback, .delivered(status: 200), after: .zero)
        },
        "redeliver": { _ = try await $0.queue.redeliver([$0.callback.id]) },
        "purge": { _ = try await $0.queue.purge(.failed) },
        "remove": { _ = try await $0.queue.remove($0.waiting) },
    ]

    private static func finish(_ scene: Scene, _ outcome: Jobs.Outcome) async throws {
        _ = try await scene.queue.finish(
            scene.running.map { Ending(id: $0.id, token: $0.token, outcome: outcome, log: ["line"]) })
    }

    @Test(arguments: calls.map(\.key))
    func `an error at a command of a script leaves a queue that a worker repairs`(name: String) async throws {
        let call = try #require(Self.calls.first { $0.key == name }?.value)
        try await QueueFixture.run { fixture in
            let scene = try await Self.scene(fixture)
            try await Self.script(fixture, Self.save)
            let before = try await Self.jobs(fixture)
            var number = Int.random(in: 1...Self.step)
            while true {
                try await Self.script(fixture, Self.restore)
                _ = try await fixture.client.send(["SET", "fault", .integer(Int64(number))])
                var error: QueueError?
                do { try await call(scene) } catch let thrown as QueueError { error = thrown }
                guard try await fixture.client.send(["GET", "fault"]).integer ?? 0 <= 0 else {
                    #expect(error == nil, "\(name)")
                    break
                }
                try await Self.repair(fixture)
                let problems = try await QueueAudit(fixture.queue).problems()
                #expect(problems == [], "\(name), command \(number)")
                let lost = before.subtracting(try await Self.jobs(fixture))
                let deleted = ["purge": [scene.failed], "remove": [scene.waiting]][name] ?? []
                #expect(lost.subtracting(deleted) == [], "\(name), command \(number)")
                // No job is claimed twice.
                let claimed = try await fixture.claim(20).map(\.id)
                let again = try await fixture.claim(20).map(\.id)
                #expect(Set(claimed).isDisjoint(with: again), "\(name), command \(number)")
                number += Self.step
            }
            #expect(number > Self.step)
        }
    }

    /// What a script leaves that failed before it removed an entry.
    @Test(arguments: ["ready", "delayed", "lease", "expiring"], [true, false])
    func `an entry that a job's state contradicts changes nothing`(index: String, isTerminal: Bool) async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.enqueue()
            let job = try await fixture.claimOne()
            if isTerminal { _ = try await fixture.finish(job, .completed([QueueFixture.report])) }
            // A running job belongs into `lease`.
            guard isTerminal || index != "lease" else { return }
            let before = try await fixture.record(id)
            _ = try await fixture.client.send(["ZADD", .text(fixture.queue.keys.prefix + index), "1", .text(id)])
            try await fixture.letSweep()
            #expect(try await fixture.claim(5).isEmpty)
            let after = try await fixture.record(id)
            #expect(after.state == before.state && after.crashes == 0 && after.attempt == 1)
            try await Self.repair(fixture)
        }
    }

    /// Does what a worker does after a beat.
    private static func repair(_ fixture: QueueFixture) async throws {
        guard try await fixture.beat([]).isBroken else { return }
        let report = try await QueueRepair(fixture.queue, pause: .milliseconds(1)).run()
        #expect(report.left == [])
        #expect(try await fixture.client.send(["HGET", .text(fixture.queue.keys.meta), "broken"]).isNull)
    }

    /// The ids of all jobs, and of the entries of the inbox that are none yet.
    private static func jobs(_ fixture: QueueFixture) async throws -> Set<String> {
        let prefix = fixture.queue.keys.prefix
        let keys = try await fixture.client.send(["KEYS", .text(prefix + "*")]).array?.compactMap(\.string) ?? []
        let ids = keys.compactMap { key in
            ["job:", "alias:"].compactMap {
                key.hasPrefix(prefix + $0) ? String(key.dropFirst((prefix + $0).count)) : nil
            }.first
        }
        let entries = try await fixture.client.send(["XRANGE", .text(fixture.queue.keys.inbox), "-", "+"]).array ?? []
        let pushed = entries.filter { $0.array?.last?.array?.first?.string != "_bell" }
        return Set(ids).union(pushed.compactMap { $0.array?.first?.string })
    }

    private static func scene(_ fixture: QueueFixture) async throws -> Scene {
        let queue = fixture.queue
        try await queue.setLimit(1, key: "k")
        let plain = QueueFixture.job
        func end(_ fields: [String: String], _ outcome: Jobs.Outcome) async throws -> String {
            let id = try await queue.enqueue([fields])[0].id
            let job = try await fixture.claimOne()
            _ = try await fixture.finish(job, outcome)
            return id
        }
        let failed = try await end(rich, .failed(Failure(.noAudio, "x")))
        _ = try await end(plain, .completed([QueueFixture.report]))
        let delayed = try await end(rich, .failed(Failure(.timeout, "x", retryAfter: 3600)))
        _ = try await queue.enqueue([plain, rich.merging(["dedup": "d"]) { $1 }])
        let running = try await fixture.claim(2)
        #expect(running.count == 2)
        // The second is parked.
        let waiting = try await queue.enqueue([plain, rich])[0].id
        let callback = try #require(try await queue.claimCallbacks(count: 1).first)
        try await fixture.push()
        try await fixture.push(["group": "g", "limit_key": "k"])
        return Scene(
            fixture: fixture, queue: faulty(queue), running: running, waiting: waiting, delayed: delayed,
            failed: failed,
            callback: callback)
    }

    /// The queue, whose scripts count down `fault` with each command, and fail when it is 0.
    private static func faulty(_ queue: JobQueue) -> JobQueue {
        let scripts = Mutex<[String: RedisScript]>([:])
        let box = ScriptBox(scripts)
        var queue = queue
        queue.rewriting = { box.script(for: $0) }
        return queue
    }

    /// Keeps the scripts, because a client recognizes them by their identity.
    private final class ScriptBox: Sendable {
        private let scripts: Mutex<[String: RedisScript]>

        init(_ scripts: consuming Mutex<[String: RedisScript]>) { self.scripts = scripts }

        func script(for script: RedisScript) -> RedisScript {
            scripts.withLock { scripts in
                if let known = scripts[script.name] { return known }
                let text = String(decoding: script.source, as: UTF8.self).replacing(
                    "local call = redis.call\n",
                    with: """
                        local function call(...)
                          if redis.call('DECR', 'fault') == 0 then return redis.call('LPUSH', 'fault', 'wrong type') end
                          return redis.call(...)
                        end

                        """, maxReplacements: 1)
                let changed = RedisScript(name: script.name, source: Array(text.utf8))
                scripts[script.name] = changed
                return changed
            }
        }
    }

    /// Copies all keys of the database to another one.
    private static let save = "for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', k, k, 'DB', '1') end"
    private static let restore = """
        redis.call('FLUSHDB') redis.call('SELECT', '1')
        for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', k, k, 'DB', '0') end
        redis.call('SELECT', '0')
        """

    private static func script(_ fixture: QueueFixture, _ text: String) async throws {
        _ = try await fixture.client.send(["EVAL", .text(text), "0"])
    }
}
