import Foundation
import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

/// What a worker makes of a job whose former owner was lost while its result became visible.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CommitRecoveryTests {
    @Test func `a job whose result is visible is completed without running`() async throws {
        let shop = try await Workshop()
        let id = try await shop.push(["source": "http://127.0.0.1:9/gone", "format": "mp3"])
        let output = try await lose(id, in: shop)
        try Data("hello".utf8).write(to: URL(filePath: output.destination))
        let worker = try await shop.worker(["RESPOOL_LEASE": "3"])
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.outputs == [output.report])
        #expect(job.crashes == 1)
        #expect(shop.outputs == ["\(id).mp3"])
        withExtendedLifetime(worker) {}
    }

    @Test func `a job whose commit record cannot be decoded does not run`() async throws {
        let shop = try await Workshop()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let id = try await shop.push(["source": source, "format": "mp3", "attempts": "1"])
        _ = try await lose(id, in: shop)
        let key = shop.queue.keys.prefix + "commit:\(id)"
        _ = try await shop.client.send(["SET", .text(key), #"{"outputs":[{}]}"#])
        let worker = try await shop.worker(["RESPOOL_LEASE": "3"])
        let job = try await shop.job(id, reaches: .failed)
        #expect(job.error?.code == .internal && job.error?.message.contains("commit record") == true)
        #expect(shop.outputs == [])
        withExtendedLifetime(worker) {}
    }

    @Test func `the staged files of a lost owner are removed, and the job runs`() async throws {
        let shop = try await Workshop()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let id = try await shop.push(["source": source, "format": "mp3"])
        let output = try await lose(id, in: shop)
        try Data("hello".utf8).write(to: URL(filePath: output.staged))
        let worker = try await shop.worker(["RESPOOL_LEASE": "3"])
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.outputs?.first?.sampleRate == 44_100)
        #expect(shop.outputs == ["\(id).mp3"])
        withExtendedLifetime(worker) {}
    }

    @Test func `a visible result completes a job at its crash limit, also a cancelled one`() async throws {
        let shop = try await Workshop()
        var visible: [(id: String, report: OutputReport)] = []
        for isCancelled in [false, true] {
            let id = try await shop.push(["source": "http://127.0.0.1:9/gone", "format": "mp3"])
            let output = try await lose(id, in: shop)
            try Data("hello".utf8).write(to: URL(filePath: output.destination))
            visible.append((id, output.report))
            if isCancelled { try await reapAndCancel(id, in: shop) }
        }
        let worker = try await shop.worker(["RESPOOL_LEASE": "3", "RESPOOL_MAX_CRASHES": "1"])
        for (id, report) in visible {
            let job = try await shop.job(id, reaches: .completed)
            #expect(job.outputs == [report])
        }
        withExtendedLifetime(worker) {}
    }

    @Test func `a job at its crash limit, or a cancelled one, does not run if no result is visible`() async throws {
        let shop = try await Workshop()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        let crashed = try await shop.push(["source": source, "format": "mp3"])
        let output = try await lose(crashed, in: shop)
        try Data("hello".utf8).write(to: URL(filePath: output.staged))
        let cancelled = try await shop.push(["source": source, "format": "mp3"])
        _ = try await lose(cancelled, in: shop)
        try await reapAndCancel(cancelled, in: shop)
        let worker = try await shop.worker(["RESPOOL_LEASE": "3", "RESPOOL_MAX_CRASHES": "1"])
        let job = try await shop.job(crashed, reaches: .failed)
        #expect(job.error?.code == .crashed && job.attempt == 0 && job.crashes == 1)
        try await shop.job(cancelled, reaches: .cancelled)
        #expect(shop.outputs == [])
        withExtendedLifetime(worker) {}
    }

    /// Ends the lease of a lost job, and asks for it to be cancelled.
    private func reapAndCancel(_ id: String, in shop: Workshop) async throws {
        let keys = shop.queue.keys
        // Again if the machine stood still in between: for the queue that is an outage, after which leases get a new term.
        try await eventually("the lease is reaped") {
            _ = try await shop.client.send(["ZADD", .text(keys.lease), "1", .text(id)])
            _ = try await shop.client.send(["HSET", .text(keys.meta), "grace", "0"])
            try await shop.queue.runMaintenance()
            return try await shop.job(id)?.state == .waiting
        }
        #expect(try await shop.queue.cancel([id]) == [.requested])
    }

    /// Claims the job and begins to publish it, as a worker that is never heard of again.
    private func lose(_ id: String, in shop: Workshop) async throws -> CommitRecord.Output {
        let claim = try await shop.queue.claim(count: 1, worker: "lost:1:a")
        let job = try #require(claim.jobs.first)
        let report = OutputReport(
            url: shop.output("\(id).mp3"), format: "mp3", codec: "mp3", bytes: 5, duration: 1, sampleRate: 8000,
            channels: 1, bitRate: 40,
            sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", copied: false,
            gapless: .init(start: 0, end: 0), damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])
        let staged = shop.output(".respool-\(id)-lost")
        let output = CommitRecord.Output(destination: report.url, staged: staged, report: report)
        #expect(try await shop.queue.publish(id: id, token: job.token, record: CommitRecord(outputs: [output])) == .ok)
        return output
    }
}
