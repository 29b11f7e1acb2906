import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// What tells of a worker that was lost.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LostWorkerTests {
    @Test func `a lost worker is reported in the job's log, the reaping worker's log and its metrics`() async throws {
        let shop = try await Workshop()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let id = try await shop.push(["source": source, "format": "mp3"])
        _ = try await shop.queue.claim(count: 1, worker: "lost:77:a")
        _ = try await shop.client.send(["ZADD", .text(shop.queue.keys.lease), "1", .text(id)])
        let port = try LoopbackPort.free()
        let worker = try await shop.worker(["RESPOOL_LEASE": "3", "RESPOOL_LISTEN": "\(port)"])
        try await shop.job(id, reaches: .completed)
        let log = try await shop.queue.log(id)
        #expect(
            log.first?.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z attempt 1 of 5 lost: .*lost:77/) == true,
            "\(log)")
        let line = try #require(worker.errors.split(separator: "\n").first { $0.contains("was lost") })
        #expect(line.contains(id) && line.contains("lost:77"))
        let metrics = try await ChildProcess.run("curl", ["-s", "http://127.0.0.1:\(port)/metrics"])
        #expect(metrics.output.contains("\nrespool_leases_reaped_total{queue=\"default\"} 1\n"))
    }
}
