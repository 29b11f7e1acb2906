import Glibc
import Lifecycle
import Media
import MediaTypes
import Testing

/// What a conversion says of how far it is.
@Suite struct ProgressTests {
    @Test(arguments: [("p.flac", [], false), ("bare-p.mp3", ["-write_xing", "0"], true), ("p.aac", [], true)])
    func `never goes back, is whole only at the end, and says when it guesses`(
        _ name: String, _ arguments: [String], _ isEstimate: Bool
    ) async throws {
        let tone = "aevalsrc='0.4*sin(2*PI*440*t)|0.3*sin(2*PI*660*t)':s=44100:d=60"
        let source = try await Studio.shared.source(name, ["-f", "lavfi", "-i", tone] + arguments)
        let reports = try await reports(source)
        #expect(reports.first?.phase == .opening)
        #expect(reports.last?.fraction == 1 && reports.last?.eta == 0 && reports.last?.estimated == false)
        let under = reports.dropFirst().dropLast()
        #expect(!under.isEmpty)
        for (one, next) in zip(under, under.dropFirst()) { #expect(one.fraction ?? 0 <= next.fraction ?? 0) }
        for report in under {
            #expect(report.phase == .converting && report.estimated == isEstimate)
            #expect(report.fraction ?? 1 < 1 && report.speed ?? 0 >= 0 && report.eta ?? 0 >= 0)
            #expect(report.position <= 60.1)
        }
    }

    private func reports(_ source: String) async throws -> [Progress] {
        let path = await Studio.shared.output("opus")
        return try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            let output = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
            var reports: [Progress] = []
            _ = try Conversion.run(
                source: DescriptorSource(borrowing: input.number),
                store: DescriptorStore(borrowing: output.number), rendition: Rendition(format: "opus"),
                range: .whole, stop: StopFlag(), progress: { reports.append($0) })
            return reports
        }
    }
}
