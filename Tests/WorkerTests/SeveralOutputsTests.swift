import Foundation
import Glibc
import JobSchema
import Jobs
import MediaTypes
import TestSupport
import Testing

/// Jobs with several outputs, through the queue.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct SeveralOutputsTests {
    /// WAV cannot be copied to MP3, which shows only when the source is open.
    private static let half = #"[{"format":"flac","output":"a/b.flac"},{"format":"mp3","passthrough":"require"}]"#

    @Test func `a job makes all its outputs and reports each`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let id = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 44_100)), "format": "flac",
            "outputs": #"[{},{"format":"mp3","bit_rate":"64k"},{"output":"x.flac","sample_rate":22050}]"#,
        ])
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.format == "flac+mp3+flac")
        let outputs = try #require(job.outputs)
        #expect(outputs.map(\.url) == ["\(id)-0.flac", "\(id)-1.mp3", "x.flac"].map(shop.output))
        #expect(outputs.map(\.sampleRate) == [44_100, 44_100, 22_050])
        #expect(outputs.allSatisfy { $0.error == nil && $0.duration == 1 })
        #expect(shop.outputs.count == 3)
        withExtendedLifetime(worker) {}
    }

    @Test func `an output that fails is reported, and the others appear`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let id = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 44_100)), "outputs": Self.half,
        ])
        let job = try await shop.job(id, reaches: .failed)
        #expect(job.error?.code == .invalidRequest)
        #expect(job.error?.message.hasPrefix("`outputs[1]`: ") == true, "\(job.error?.message ?? "")")
        let outputs = try #require(job.outputs)
        #expect(outputs.map(\.error?.code) == [nil, .invalidRequest])
        #expect(FileManager.default.fileExists(atPath: shop.output("a/b.flac")))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: shop.output("")) == ["a", "a/b.flac"])
        #expect(try await shop.queue.retry([id]).first == .retried)
        try await shop.job(id, reaches: .failed)
        withExtendedLifetime(worker) {}
    }

    @Test func `no output appears if one fails and all are required`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let id = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 44_100)), "outputs": Self.half, "atomic": "true",
        ])
        let job = try await shop.job(id, reaches: .failed)
        #expect(job.error?.code == .invalidRequest)
        #expect(job.error?.message.hasPrefix("`outputs[1]`: ") == true, "\(job.error?.message ?? "")")
        #expect(job.outputs == nil)
        try await eventually("no file and no folder is left") { shop.outputs.isEmpty }
        withExtendedLifetime(worker) {}
    }

    @Test(arguments: [false, true])
    func `all outputs are made again if a lost owner published only the first`(isAtomic: Bool) async throws {
        let shop = try await Workshop()
        let id = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "atomic": isAtomic ? "true" : "false",
            "outputs": #"[{"format":"mp3"},{"format":"flac"}]"#,
        ])
        let job = try #require(try await shop.queue.claim(count: 1, worker: "lost:1:a").jobs.first)
        let outputs = ["\(id)-0.mp3", "\(id)-1.flac"].enumerated().map { index, name -> CommitRecord.Output in
            var report = OutputReport(
                url: shop.output(name), format: "mp3", codec: "mp3", bytes: 5, duration: 1, sampleRate: 8000,
                channels: 1, bitRate: 40,
                sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", copied: false,
                gapless: .init(start: 0, end: 0), damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])
            report.url = shop.output(name)
            return .init(destination: report.url, staged: shop.output(".respool-\(id)-lost~\(index)"), report: report)
        }
        let record = CommitRecord(outputs: outputs, isAtomic: isAtomic)
        #expect(try await shop.queue.publish(id: id, token: job.token, record: record) == .ok)
        try Data("hello".utf8).write(to: URL(filePath: outputs[0].destination))
        try Data("hello".utf8).write(to: URL(filePath: outputs[1].staged))
        let worker = try await shop.worker(["RESPOOL_LEASE": "3"])
        let done = try await shop.job(id, reaches: .completed)
        #expect(done.outputs?.map(\.sampleRate) == [44_100, 44_100])
        #expect(done.crashes == 1)
        #expect(shop.outputs.sorted() == ["\(id)-0.mp3", "\(id)-1.flac"])
        withExtendedLifetime(worker) {}
    }
}
