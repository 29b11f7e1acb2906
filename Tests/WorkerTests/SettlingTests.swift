import Foundation
import Jobs
import MediaTypes
import Redis
import SlotProtocol
import TestSupport
import Testing

/// What a worker makes of a job whose former owner was lost while its result became visible.
@Suite struct SettlingTests {
    @Test func `completes the job without running it where the result is visible already`() async throws {
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

    @Test func `removes what is staged, and runs the job`() async throws {
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
