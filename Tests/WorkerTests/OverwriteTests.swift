import Foundation
import JobSchema
import Jobs
import MediaTypes
import TestSupport
import Testing

/// Jobs whose outputs may not replace what is there.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct OverwriteTests {
    private func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func `an existing output is skipped with a warning, or fails the job`() async throws {
        let shop = try await Workshop()
        let worker = try await shop.worker()
        let source = try shop.source("a.wav", Sounds.ramp(samples: 4410))
        try write("old", shop.output("a.flac"))
        let skipped = try await shop.push([
            "source": "http://127.0.0.1:9/gone", "format": "flac", "output": "a.flac", "overwrite": "skip",
        ])
        var job = try await shop.job(skipped, reaches: .completed)
        var output = try #require(job.outputs?.first)
        #expect(output.warnings.map(\.code) == ["output_skipped"] && output.url == shop.output("a.flac"))
        #expect(output.error == nil && output.isSkipped && output.bytes == 0)
        let failed = try await shop.push(["source": source, "format": "flac", "output": "a.flac", "overwrite": "fail"])
        job = try await shop.job(failed, reaches: .failed)
        #expect(job.error?.code == .outputExists && job.error?.retryable == false && job.attempt == 1)
        #expect(text(shop.output("a.flac")) == "old")
        // Of several the others are made, also where all are wanted or none.
        let half = try await shop.push([
            "source": source, "atomic": "true", "overwrite": "skip",
            "outputs": #"[{"format":"flac","output":"a.flac"},{"format":"wav","output":"b.wav"}]"#,
        ])
        job = try await shop.job(half, reaches: .completed)
        #expect(job.outputs?.map(\.isSkipped) == [true, false])
        output = try #require(job.outputs?.last)
        #expect(output.duration == 0.1 && FileManager.default.fileExists(atPath: shop.output("b.wav")))
        #expect(text(shop.output("a.flac")) == "old")
        // What is wrong with another output is told all the same.
        let wrong = try await shop.push([
            "source": source, "overwrite": "skip",
            "outputs": #"[{"format":"flac","output":"a.flac"},{"format":"mp3","passthrough":"require"}]"#,
        ])
        job = try await shop.job(wrong, reaches: .failed)
        #expect(job.error?.code == .invalidRequest)
        let denied = try await shop.push([
            "source": source, "format": "flac", "output": "/etc/a.flac", "overwrite": "skip",
        ])
        job = try await shop.job(denied, reaches: .failed)
        #expect(job.error?.code == .outputDenied)
        withExtendedLifetime(worker) {}
    }

    @Test func `a retried job does not collide with its first attempt`() async throws {
        let store = ObjectStore.shared
        let shop = try await Workshop()
        // Each try asks five times.
        try await store.spoil("retried", "PUT_ 5 503")
        let worker = try await shop.worker([
            "AWS_ACCESS_KEY_ID": ObjectStore.keys.identifier, "AWS_SECRET_ACCESS_KEY": ObjectStore.keys.secret,
            "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": try await store.endpoint,
        ])
        let id = try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 4410)), "format": "flac", "overwrite": "fail",
            "outputs": #"[{"output":"a.flac"},{"output":"s3://retried/b.flac"}]"#,
        ])
        try await eventually("the first is published") { shop.outputs == ["a.flac"] }
        let job = try await shop.job(id, reaches: .completed)
        #expect(job.attempt == 2 && job.outputs?.map(\.isMade) == [true, true])
        #expect(try await store.content("retried").objects.count == 1)
        withExtendedLifetime(worker) {}
    }
}
