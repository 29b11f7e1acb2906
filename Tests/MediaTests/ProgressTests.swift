import Bytes
import Conversion
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// What a conversion says of how far it is.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ProgressTests {
    @Test(arguments: [("p.flac", [], false), ("bare-p.mp3", ["-write_xing", "0"], true), ("p.aac", [], true)])
    func `progress never decreases, is complete only at the end, and marks estimates`(
        _ name: String, _ arguments: [String], _ isEstimate: Bool
    ) async throws {
        let tone = "aevalsrc='0.4*sin(2*PI*440*t)|0.3*sin(2*PI*660*t)':s=44100:d=20"
        let source = try await Studio.shared.source(name, ["-f", "lavfi", "-i", tone] + arguments)
        let reports = try await reports(source, Rendition(format: "opus"))
        #expect(reports.first?.phase == .opening)
        #expect(reports.last?.fraction == 1 && reports.last?.eta == 0 && reports.last?.estimated == false)
        let under = reports.dropFirst().dropLast()
        #expect(!under.isEmpty)
        for (one, next) in zip(under, under.dropFirst()) { #expect(one.fraction ?? 0 <= next.fraction ?? 0) }
        for report in under {
            #expect(report.phase == .converting && report.estimated == isEstimate)
            #expect(report.fraction ?? 1 < 1 && report.speed ?? 0 >= 0 && report.eta ?? 0 >= 0)
            #expect(report.position <= 20.1)
        }
    }

    @Test func `progress increases while packets are copied`() async throws {
        let source = try await Studio.shared.source(
            "copied-noise.flac", ["-f", "lavfi", "-i", "anoisesrc=r=44100:d=30:seed=1"])
        var copy = Rendition(format: "flac")
        copy.passthrough = .require
        let reports = try await reports(source, copy)
        let found = reports.filter { $0.phase == .analyzing }
        #expect(found.contains { (0.3..<1).contains($0.fraction ?? 0) && $0.duration == 30 && !$0.estimated })
        #expect(reports.firstIndex { $0.phase == .converting } == found.count + 1)
        let under = reports.filter { $0.phase == .converting && (0.0001..<1).contains($0.fraction ?? 0) }
        #expect(!under.isEmpty)
        for report in under {
            #expect(report.duration == 30 && !report.estimated)
            #expect(abs(report.position - 30 * (report.fraction ?? 0)) < 0.07)
        }
        #expect(reports.last?.fraction == 1 && reports.last?.position == 30)
    }

    /// A file whose middle is not written before a conversion has told that it moves.
    private final class HeldFile: RandomAccessOutput {
        let moved = CancellationFlag()
        private let file = MemoryFile()

        var length: Int64 { file.length }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
            if offset > 1_000_000 {
                for _ in 0..<30_000 where !moved.isRaised { usleep(1000) }
            }
            file.write(bytes, at: offset)
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
            file.read(into: buffer, at: offset)
        }
    }

    /// A file that takes so long to read on from its middle that a report is due.
    private final class SlowFile: ByteSource {
        private let file: MemoryFile
        private var isBehind = false

        init(path: String) throws { file = try MemoryFile(path: path) }

        var length: Int64 { file.length }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
            let wasBehind = isBehind
            isBehind = offset > length / 2
            if isBehind && !wasBehind { usleep(110_000) }
            return file.read(into: buffer, at: offset)
        }
    }

    private func reports(_ source: String, _ rendition: Rendition) async throws -> [Progress] {
        try await onThread {
            let held = HeldFile()
            var reports: [Progress] = []
            _ = try Converter.run(
                source: SlowFile(path: source), store: rendition.passthrough == .require ? held : MemoryFile(),
                rendition: rendition, range: .whole, stop: CancellationFlag(),
                progress: {
                    reports.append($0)
                    if $0.phase == .converting, $0.fraction ?? 0 > 0 { held.moved.raise() }
                })
            return reports
        }
    }
}
