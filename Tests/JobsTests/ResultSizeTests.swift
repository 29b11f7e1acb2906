import JobSchema
import Jobs
import MediaTypes
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ResultSizeTests {
    @Test func `a result keeps within 256 KiB whatever its texts are, and a skipped output stays skipped`() async throws
    {
        try await QueueFixture.run { fixture in
            var report = QueueFixture.report
            report.url = "/out/" + String(repeating: "\u{1}", count: 60_000)
            report.codec = String(repeating: "x", count: 60_000)
            let failed = OutputReport(format: "mp3", error: Failure(.internal, String(repeating: "\u{1}", count: 9000)))
            let skipped = OutputReport(format: "mp3", skippedAt: String(repeating: "é", count: 20_000))
            let reports =
                Array(repeating: report, count: 20) + Array(repeating: failed, count: 6)
                + Array(repeating: skipped, count: 6)
            let id = try await fixture.enqueue()
            _ = try await fixture.finish(try await fixture.claimOne(), .completed(reports))
            let length = try await fixture.client.send(["STRLEN", .text(fixture.queue.keys.result(id))]).integer
            #expect((1...(256 << 10)).contains(try #require(length)), "\(length ?? 0)")
            let kept = try #require(try await fixture.record(id).outputs)
            #expect(kept.count == 32 && kept.prefix(20).allSatisfy(\.isMade) && kept.suffix(6).allSatisfy(\.isSkipped))
            #expect(kept[20].error?.code == .internal)
        }
    }
}
