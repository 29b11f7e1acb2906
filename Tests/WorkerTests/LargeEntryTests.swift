import Foundation
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// What anybody who may push can do to a worker with one entry.
@Suite(.failureReport, .serialized, .timeLimit(.minutes(5))) struct LargeEntryTests {
    /// A kind of entry, and the command that pushes it: by a script, because to send it takes longer.
    struct Entry: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: String
        let reason: String
    }

    private static let entries = [
        Entry(
            testDescription: "a value of 64 MB", script: large + "return redis.call('XADD', KEYS[1], '*', 'source', s)",
            reason: "`source` is longer than 16384 bytes"),
        Entry(
            testDescription: "a name of 64 MB", script: large + "return redis.call('XADD', KEYS[1], '*', s, 'x')",
            reason: "unknown field `xxxx"),
    ]

    private static let large = "local s = string.rep('x', 1000000) for _ = 1, 6 do s = s .. s end "

    @Test(arguments: entries)
    func `an idle worker reads no large entry, and fails it`(_ entry: Entry) async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        try await isWaiting(shop)
        let before = try peakMemory(worker)
        let inbox = RedisArgument.text(shop.queue.keys.inbox)
        let client = shop.redis.client(name: "producer")
        let id = try #require(try await client.send(["EVAL", .text(entry.script), 1, inbox]).string)
        try await expectRefusal(of: id, entry.reason, shop, worker, peakBefore: before)
    }

    @Test func `an idle worker reads no entry of 500,000 fields, and fails it`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        try await isWaiting(shop)
        let before = try peakMemory(worker)
        let cli = try await ChildProcess("redis-cli", ["-s", shop.redis.socket, "--pipe"], input: .open)
        let inbox = shop.queue.keys.inbox
        await cli.write("*1000003\r\n$4\r\nXADD\r\n$\(inbox.utf8.count)\r\n\(inbox)\r\n$3\r\n7-7\r\n")
        await cli.write(String(repeating: "$1\r\na\r\n", count: 1_000_000))
        cli.closeInput()
        let outcome = await cli.wait()
        #expect(outcome.output.contains("replies: 1"), "\(outcome.output)\(outcome.errors)")
        try await expectRefusal(of: "7-7", "over the limit of 64", shop, worker, peakBefore: before)
    }

    /// Waits until the worker waits at its doorbell.
    private func isWaiting(_ shop: Workshop) async throws {
        try await eventually("the worker waits") {
            try await shop.client.send(["INFO", "clients"]).string?.contains("blocked_clients:1") == true
        }
    }

    private func expectRefusal(
        of id: String, _ reason: String, _ shop: Workshop, _ worker: ChildProcess, peakBefore: Int
    ) async throws {
        let job = try await shop.job(id, reaches: .failed)
        #expect(job.error?.code == .invalidRequest && job.error?.message.contains(reason) == true, "\(job)")
        #expect((job.error?.message.utf8.count ?? 0) < 300)
        try await isWaiting(shop)
        let growth = try peakMemory(worker) - peakBefore
        #expect(growth < 32 << 20, "the worker's memory grew by \(growth >> 20) MiB")
        #expect(worker.isRunning, "\(worker.errors)")
    }

    /// Bytes of memory that the process has had at most.
    private func peakMemory(_ process: ChildProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace)[1]).flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }
}
