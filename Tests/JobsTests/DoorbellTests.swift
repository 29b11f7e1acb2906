import JobSchema
import Jobs
import Redis
import Synchronization
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct DoorbellTests {
    /// Waiters that never claim; each counts its first ring.
    private func waiters(
        _ count: Int, on fixture: QueueFixture, _ body: (_ rung: @Sendable () -> Int) async throws -> Void
    ) async throws {
        let rung = Tally()
        try await fixture.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                let bell = fixture.doorbell()
                group.addTask {
                    while !Task.isCancelled {
                        // A wait that a busy machine answers too late throws.
                        guard (try? await bell.wait(for: .seconds(1))) == .rang else { continue }
                        rung.add("")
                        return
                    }
                }
            }
            try await fixture.blocks(count)
            try await body { rung.total }
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
        }
    }

    @Test func `one push wakes one worker, and three wake three`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            try await waiters(8, on: fixture) { rung in
                try await fixture.push()
                try await eventually("one is woken") { rung() == 1 }
                try await fixture.blocks(7)
                for _ in 0..<3 { try await fixture.push() }
                try await eventually("three more are woken") { rung() == 4 }
                try await fixture.blocks(4)
            }
        }
    }

    @Test func `anything that leaves work behind wakes one worker, and only one`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            let ready = try await fixture.enqueue()
            let cancelled = try await fixture.enqueue()
            let running = try await fixture.claim(2)
            let causes: [(String, () async throws -> Void)] = [
                ("enqueue", { _ = try await fixture.queue.enqueue(Array(repeating: QueueFixture.job, count: 5)) }),
                ("release", { _ = try await fixture.finish(running[0], .released) }),
                ("retry", { _ = try await fixture.queue.retry([cancelled]) }),
                (
                    "resume",
                    {
                        try await fixture.queue.pause()
                        try await fixture.queue.resume()
                    }
                ),
                (
                    "a claim that got all it asked for",
                    {
                        let jobs = try await fixture.claim(1)
                        #expect(jobs.map(\.id) == [ready])
                    }
                ),
            ]
            _ = try await fixture.queue.cancel([cancelled])
            _ = try await fixture.finish(running[1], .cancelled)
            for (name, cause) in causes {
                try await fixture.silence()
                try await waiters(4, on: fixture) { rung in
                    try await cause()
                    try await eventually("\(name) wakes one") { rung() == 1 }
                    try await fixture.blocks(3)
                }
            }
        }
    }

    @Test func `promotion and reaping ring the bell too`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            _ = try await fixture.enqueue(["delay": "60"])
            try await waiters(3, on: fixture) { rung in
                try await fixture.makeDue()
                _ = try await fixture.beat([])
                try await eventually("promotion wakes one") { rung() == 1 }
            }
            let claimed = try await fixture.claimOne()
            try await waiters(3, on: fixture) { rung in
                // Again if the machine was held up in between: for the queue that is an outage.
                try await eventually("the lease ends") {
                    try await fixture.endLeases()
                    _ = try await fixture.beat([])
                    return try await fixture.state(claimed.id) == .waiting
                }
                try await eventually("reaping wakes one") { rung() == 1 }
            }
        }
    }

    @Test func `the bell never rings while the queue is paused`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            try await fixture.queue.pause()
            try await waiters(3, on: fixture) { rung in
                _ = try await fixture.enqueue()
                _ = try await fixture.beat([])
                _ = try await fixture.claim()
                try await fixture.queue.ring()
                try await fixture.blocks(3)
                #expect(rung() == 0)
            }
        }
    }

    @Test func `a bell waits for the worker that comes a moment later`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            try await fixture.open()
            _ = try await fixture.enqueue()
            #expect(try await fixture.wait(for: .seconds(1)) == .rang)
            // It took the bell and cannot claim.
            try await fixture.queue.ring()
            #expect(try await fixture.wait(for: .seconds(1)) == .rang)
            _ = try await fixture.claim()
            #expect(try await fixture.wait(for: .milliseconds(20)) == .timeout)
        }
    }

    @Test func `a bell that was lost for a second is replaced`() async throws {
        try await QueueFixture.run { fixture in
            let meta = RedisArgument.text(fixture.queue.keys.meta)
            func bell() async throws -> String { try await fixture.client.send(["HGET", meta, "bell"]).string ?? "" }
            try await fixture.open()
            _ = try await fixture.enqueue()
            #expect(try await fixture.wait(for: .seconds(1)) == .rang)
            let id = try #require(try await bell().split(separator: " ").first)
            let now = try await fixture.now()
            for (age, isReplaced) in [(Int64(900), false), (1002, true)] {
                _ = try await fixture.client.send(["HSET", meta, "bell", .text("\(id) \(now - age)")])
                _ = try await fixture.beat([])
                #expect(try await bell().hasPrefix("\(id) ") == !isReplaced)
            }
            #expect(try await fixture.wait(for: .seconds(1)) == .rang)
        }
    }

    @Test func `the group is created, also when the inbox is deleted under a waiting worker`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            let bell = fixture.doorbell()
            #expect(try await bell.wait(for: .milliseconds(10)) == .rang)
            #expect(try await bell.wait(for: .milliseconds(10)) == .timeout)
            // It waits again and again, because a busy machine may not see that it waits the first time.
            async let answer: Void = { while try await bell.wait(for: .seconds(1)) == .timeout {} }()
            try await eventually("it waits") { try await fixture.blocked() == 1 }
            _ = try await fixture.client.send(["DEL", .text(fixture.queue.keys.inbox)])
            // Redis 7 reports it at once, 6.2 to the next wait.
            try await answer
            try await fixture.push()
            #expect(try await bell.wait(for: .seconds(1)) == .rang)
        }
    }

    @Test func `no worker sleeps while there is work`() async throws {
        try await QueueFixture.run(clock: .running) { fixture in
            let total = 400
            let (done, slept) = (Tally(), Tally())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    let client = fixture.server.client()
                    let queue = JobQueue(client: client, name: fixture.queue.name)
                    let bell = fixture.doorbell()
                    group.addTask {
                        var answer = Doorbell.Answer.rang
                        while done.total < total {
                            let claim = try await queue.claim(count: 2, worker: "h:\(number):n")
                            if answer == .timeout, !claim.jobs.isEmpty { slept.add("\(number)") }
                            answer = .rang
                            for job in claim.jobs {
                                _ = try await queue.finish(id: job.id, token: job.token, outcome: .completed([]))
                                done.add(job.id)
                            }
                            if claim.jobs.isEmpty { answer = (try? await bell.wait(for: .seconds(1))) ?? .rang }
                        }
                    }
                }
                for index in 0..<total / 2 {
                    _ = try await fixture.enqueue()
                    try await fixture.push()
                    if index % 20 == 0 { try await Task.sleep(for: .milliseconds(5)) }
                }
                try await group.waitForAll()
            }
            // A worker that nobody wakes finds two jobs when its wait has ended. Others may come at that moment.
            #expect(slept.total < total / 20)
            #expect(done.names == total)
            #expect(try await fixture.queue.stats()[.completed] == total)
        }
    }
}

/// Counts what happens in many tasks.
private final class Tally: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func add(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

    var names: Int { counts.withLock { $0.count } }
    var total: Int { counts.withLock { $0.values.reduce(0, +) } }
}

extension QueueFixture {
    func doorbell() -> Doorbell {
        Doorbell(client: BlockingRedisClient(url: server.url, name: "bell"), name: queue.name)
    }

    /// The answer of a new doorbell; a wait that a busy machine answers too late throws, and is repeated.
    func wait(for duration: Duration) async throws -> Doorbell.Answer {
        while true {
            do throws(QueueError) { return try await doorbell().wait(for: duration) } catch {
                guard error.isTransient else { throw error }
            }
        }
    }

    /// Creates the inbox's group, as the first worker does.
    func open() async throws {
        _ = try? await client.send(["XGROUP", "CREATE", .text(queue.keys.inbox), "bell", "0", "MKSTREAM"])
    }

    /// Waits until so many clients wait in a blocking command. Redis wakes them within the command that rings, so that one which was
    /// woken before waits no more.
    func blocks(_ count: Int) async throws {
        try await eventually("\(count) wait") { try await blocked() == count }
    }

    /// Clients that wait in a blocking command.
    func blocked() async throws -> Int {
        let text = try await client.send(["INFO", "clients"]).string ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("blocked_clients:") }
        return line.flatMap { Int($0.dropFirst("blocked_clients:".count)) } ?? 0
    }

    /// Takes the bell away, as a worker does that claims, but leaves the work.
    func silence() async throws {
        _ = try await client.send([
            "EVAL",
            """
            local id = string.match(redis.call('HGET', KEYS[1], 'bell') or '', '^%S+')
            if id then redis.call('XDEL', KEYS[2], id) end
            redis.call('HSET', KEYS[1], 'bell', '')
            """, "2", .text(queue.keys.meta), .text(queue.keys.inbox),
        ])
    }
}
