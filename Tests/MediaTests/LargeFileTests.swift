import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Sources whose sizes take more than 32 bits: a sound of one second behind more than four gibibytes of silence.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LargeFileTests {
    /// A second has 48,000 stereo samples of 16 bits.
    private static let seconds = 24_000
    private static let secondBytes = 192_000
    private static let audioBytes = UInt64(seconds * secondBytes)

    @Test(arguments: ["large.w64", "large.rf64"])
    func `the last second behind four gibibytes is found`(_ name: String) async throws {
        let header = name.hasSuffix("w64") ? Self.sony : Self.broadcast
        let path = Studio.shared.folder.file(name)
        defer { unlink(path) }
        let sound = (0..<Self.secondBytes / 2).map { Int16(truncatingIfNeeded: $0 &* 7919) }
        do {
            let file = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
            let end = header.count + Int(Self.audioBytes)
            #expect(end > 1 << 32)
            // What nobody writes takes no room.
            #expect(ftruncate(file.number, end) == 0)
            #expect(pwrite(file.number, header, header.count, 0) == header.count)
            let count = sound.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, end - $0.count) }
            #expect(count == Self.secondBytes)
        }
        let start = MediaTime(value: Int64(Self.seconds - 1), timescale: 1)
        let last = try await convert(path, Rendition(format: "wav"), start: start)
        #expect(last.result.samples == 48_000)
        #expect(try await decode(last.path, as: Int16.self, "s16le") == sound)
        let before = try await convert(
            path, Rendition(format: "wav"), start: MediaTime(value: Int64(Self.seconds - 2), timescale: 1),
            end: MediaTime(value: Int64(Self.seconds) * 2 - 1, timescale: 2))
        let samples = try await decode(before.path, as: Int16.self, "s16le")
        let expected: [Int16] = [Int16](repeating: 0, count: 96_000) + sound.prefix(48_000)
        #expect(samples == expected)
    }

    private static let format =
        little(1, 2) + little(2, 2) + little(48_000, 4) + little(UInt64(secondBytes), 4) + little(4, 2) + little(16, 2)

    /// The header of an RF64 file (EBU Tech 3306).
    private static var broadcast: [UInt8] {
        let sizes = little(audioBytes + 72, 8) + little(audioBytes, 8) + little(audioBytes / 4, 8) + little(0, 4)
        return Array("RF64".utf8) + little(0xFFFF_FFFF, 4) + Array("WAVEds64".utf8) + little(28, 4) + sizes
            + Array("fmt ".utf8) + little(16, 4) + format + Array("data".utf8) + little(0xFFFF_FFFF, 4)
    }

    /// The header of a Wave64 file, whose chunks have GUIDs for names and count themselves into their sizes.
    private static var sony: [UInt8] {
        let rest: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
        let riff: [UInt8] = [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00]
        return Array("riff".utf8) + riff + little(audioBytes + 104, 8) + Array("wave".utf8) + rest
            + Array("fmt ".utf8) + rest + little(40, 8) + format + Array("data".utf8) + rest
            + little(audioBytes + 24, 8)
    }

    private static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
