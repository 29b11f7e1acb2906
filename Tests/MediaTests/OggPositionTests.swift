import Conversion
import Decoding
import Encoding
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Ogg whose granule positions are not the number of samples so far: recordings of live streams, and chains.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct OggPositionTests {
    private static let codecs = [("opus", "libopus", 48_000), ("oga", "flac", 16_000), ("ogg", "libvorbis", 16_000)]

    private func tone(
        _ container: String, _ codec: String, _ rate: Int, _ seconds: Int, serial: Int = 0
    ) async throws -> String {
        try await Studio.shared.source(
            "positions-\(seconds)-\(serial).\(container)",
            [
                "-f", "lavfi", "-i", "aevalsrc='0.3*sin(2*PI*(300*t+20*t*t))':s=\(rate):d=\(seconds)", "-c:a", codec,
                "-serial_offset", "\(serial)",
            ])
    }

    @Test(arguments: codecs)
    func `positions that begin late or leap are no loss`(_ container: String, _ codec: String, _ rate: Int) async throws
    {
        let path = try await tone(container, codec, rate, 8)
        let bytes = try fileBytes(path)
        let expected = try await decode(path, as: Float.self, "f32le", codec == "libopus" ? Studio.opus : [])
        let hour = Int64(3600 * rate)
        let moves: [(String, @Sendable (Int) -> Int64)] = [
            ("an hour late", { _ in hour }), ("a leap of 2 s", { $0 > 3 ? Int64(2 * rate) : 0 }),
            ("a leap back", { $0 > 3 ? hour - Int64(2 * rate) : hour }),
        ]
        for (name, move) in moves {
            let result = try MemoryFile(OggFile.moved(bytes, by: move)).converted(
                to: Rendition(format: "wav", sampleFormat: .f32))
            #expect(try result.file.samples() == expected, "\(name)")
            #expect(
                result.result.damage.events == 0 && result.result.warnings.isEmpty, "\(name): \(result.result.warnings)"
            )
        }
    }

    @Test(arguments: codecs)
    func `chains of several links are read whole`(_ container: String, _ codec: String, _ rate: Int) async throws {
        for lengths in [[2, 2, 2], [1, 2, 3], [4, 4, 4], [3, 2, 1]] {
            var chain: [UInt8] = []
            for (serial, seconds) in lengths.enumerated() {
                chain += try fileBytes(try await tone(container, codec, rate, seconds, serial: serial))
            }
            let result = try MemoryFile(chain).converted(to: Rendition(format: "wav")).result
            let seconds = lengths.reduce(0, +)
            #expect(result.samples == Int64(seconds * rate), "\(lengths)")
            #expect(result.damage.events == 0, "\(lengths)")
            let probe = try Probe.of(MemoryFile(chain), stop: CancellationFlag())
            let isExact = probe.seconds.map { abs($0 - Double(seconds)) < 0.001 } ?? false
            #expect(isExact, "\(lengths): \(probe.seconds as Any)")
            #expect(probe.estimated)
        }
    }

    @Test(arguments: codecs)
    func `a chain whose links begin late is as long as its links`(
        _ container: String, _ codec: String, _ rate: Int
    ) async throws {
        var chain: [UInt8] = []
        for (serial, seconds) in [3, 2].enumerated() {
            let path = try await tone(container, codec, rate, seconds, serial: serial)
            chain += OggFile.moved(try fileBytes(path)) { _ in Int64(3600 * rate) }
        }
        let probe = try Probe.of(MemoryFile(chain), stop: CancellationFlag())
        // The first page of each link is not counted exactly.
        #expect(probe.seconds.map { abs($0 - 5) < 2 } == true, "\(probe.seconds as Any)")
    }

    @Test(arguments: codecs)
    func `a late recording lacks what its pages lack`(_ container: String, _ codec: String, _ rate: Int) async throws {
        var bytes = OggFile.moved(try fileBytes(try await tone(container, codec, rate, 8))) { _ in Int64(3600 * rate) }
        bytes[bytes.count - 5] ^= 1
        let plan = ConversionPlan(source: SourceSettings(damage: .accept), renditions: [Rendition(format: "wav")])
        let result = try Converter.run(
            source: MemoryFile(bytes), stores: OneStore(MemoryFile()), plan: plan, stop: CancellationFlag(),
            progress: { _ in })[0].get()
        #expect(result.samples >= Int64(8 * rate) && result.samples < Int64(8 * rate + 960), "\(result.samples)")
        #expect(result.damage.events == 1)
    }
}
