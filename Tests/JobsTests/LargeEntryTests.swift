import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// Entries of the inbox that are far larger than any job, among those that are not.
@Suite(.failureReport, .serialized, .timeLimit(.minutes(5))) struct LargeEntryTests {
    /// Fields of a large entry.
    private static let fields = 50_000

    /// Pushes entries of very many fields behind all that are there, which have lower numbers; answers their ids.
    private func pushLarge(
        _ count: Int, from first: Int = 1, to fixture: QueueFixture
    ) async throws -> [String] {
        let inbox = fixture.queue.keys.inbox
        let now = try await fixture.now()
        let ids = (first..<first + count).map { "\(now)-\(1_000_000 * $0)" }
        let fields = String(repeating: "$1\r\na\r\n", count: 2 * Self.fields)
        let cli = try await ChildProcess("redis-cli", ["-s", fixture.server.socket, "--pipe"], input: .open)
        for id in ids {
            let words = ["XADD", inbox, id].map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
            await cli.write("*\(3 + 2 * Self.fields)\r\n\(words)\(fields)")
        }
        cli.closeInput()
        let outcome = await cli.wait()
        #expect(outcome.output.contains("errors: 0, replies: \(count)"), "\(outcome.output)\(outcome.errors)")
        return ids
    }

    /// Seconds of a processor that Redis has taken; how busy the machine is does not matter.
    private func processorTime(_ fixture: QueueFixture) async throws -> Double {
        let lines = try await fixture.server.info("INFO", "cpu").split(whereSeparator: \.isNewline)
        return lines.filter { $0.hasPrefix("used_cpu_sys_main_thread:") || $0.hasPrefix("used_cpu_user_main_thread:") }
            .compactMap { $0.split(separator: ":").last.flatMap { Double($0) } }.reduce(0, +)
    }

    /// What one of the entries costs to read, in seconds of a processor.
    private func readingTime(_ fixture: QueueFixture, _ ids: [String]) async throws -> Double {
        let start = try await processorTime(fixture)
        for id in ids {
            _ = try await fixture.client.send([
                "EVAL", "return #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])", 1, .text(fixture.queue.keys.inbox),
                .text(id),
            ])
        }
        return try await processorTime(fixture) - start
    }

    @Test func `a call admits one large entry, and reads no other`() async throws {
        try await QueueFixture.run { fixture in
            // A claim of a paused queue is one call of the script.
            try await fixture.queue.pause()
            let ids = try await pushLarge(8, to: fixture)
            let good = try await fixture.push()
            let reading = try await readingTime(fixture, ids)
            let start = try await processorTime(fixture)
            for number in 1...8 {
                _ = try await fixture.queue.claim(count: 1, worker: QueueFixture.worker)
                #expect(try await fixture.queue.stats()[.failed] == number)
            }
            // Of 16 at once the first call would read all, and admit three.
            let taken = try await processorTime(fixture) - start
            #expect(taken < 3 * reading, "\(taken) s, and \(reading) s to read each once")
            try await fixture.queue.resume()
            #expect(try await fixture.claim(5).map(\.id) == [good])
        }
    }

    @Test func `a name of 32 MB costs little more than to read it`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.pause()
            let script =
                "local s = string.rep('x', 1000000) for _ = 1, 5 do s = s .. s end return redis.call('XADD', KEYS[1], '*', s, 'x')"
            let client = fixture.server.client(name: "producer")
            let inbox = RedisArgument.text(fixture.queue.keys.inbox)
            let id = try #require(try await client.send(["EVAL", .text(script), 1, inbox]).string)
            _ = try await readingTime(fixture, [id])
            let reading = try await readingTime(fixture, [id])
            let start = try await processorTime(fixture)
            _ = try await fixture.queue.claim(count: 1, worker: QueueFixture.worker)
            let taken = try await processorTime(fixture) - start
            #expect(taken < 3 * reading, "\(taken) s, and \(reading) s to read it")
            let message = try await fixture.record(id).error?.message ?? ""
            #expect(message.hasPrefix("unknown field `xxx") && message.utf8.count < 300)
        }
    }

    @Test func `small entries are admitted together, also in front of large ones`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.pause()
            for _ in 0..<40 { try await fixture.push() }
            let before = try await reads(fixture)
            _ = try await fixture.queue.claim(count: 1, worker: QueueFixture.worker)
            #expect(try await fixture.queue.stats()[.waiting] == 40)
            #expect(try await reads(fixture) - before <= 4)
            for _ in 0..<3 { try await fixture.push() }
            _ = try await pushLarge(1, to: fixture)
            _ = try await fixture.queue.claim(count: 1, worker: QueueFixture.worker)
            let stats = try await fixture.queue.stats()
            #expect(stats[.waiting] == 43 && stats[.failed] == 1)
        }
    }

    /// How often entries were read so far.
    private func reads(_ fixture: QueueFixture) async throws -> Int {
        let lines = try await fixture.server.info("INFO", "commandstats").split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix("cmdstat_xrange:") } ?? "=0,"
        return Int(line.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) ?? 0
    }

    @Test func `a call lists, cancels and deletes one large entry`() async throws {
        try await QueueFixture.run { fixture in
            let queue = fixture.queue
            let ids = try await pushLarge(3, to: fixture)
            let good = try await fixture.push()
            var found: [[String]] = []
            var cursor: JobCursor?
            repeat {
                let page = try await queue.list(state: .queued, limit: 100, cursor: cursor)
                #expect(page.jobs.allSatisfy { $0.state == .queued })
                found.append(page.jobs.map(\.id))
                cursor = page.next
            } while cursor != nil
            #expect(found == ids.map { [$0] } + [[good]])
            let before = try await fixture.client.scriptCount()
            #expect(try await queue.jobs(ids + [good]).map { $0?.state } == Array(repeating: .queued, count: 4))
            #expect(try await fixture.client.scriptCount() - before >= 3)
            // It fails as it is admitted.
            #expect(try await queue.cancel([ids[0], ids[1]]) == Array(repeating: .tooLate(.failed), count: 2))
            _ = try await pushLarge(1, from: 4, to: fixture)
            #expect(try await queue.purge(.queued) == 1)
            // The last one ends the call as well.
            #expect(try await queue.purge(.queued) == 2)
            #expect(try await queue.purge(.queued) == 0)
            #expect(try await queue.stats()[.queued] == 0)
        }
    }

    @Test func `a group is sealed after large entries that were pushed before`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await pushLarge(2, to: fixture)
            let id = try await fixture.push(["group": "g"])
            #expect(try await fixture.queue.seal("g") == .sealed)
            let group = try await fixture.queue.group("g")
            #expect(group?.total == 1)
            #expect(try await fixture.claimOne().id == id)
        }
    }
}
