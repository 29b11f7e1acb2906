import Bytes
import Encoding
import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

/// What may lie before, between and behind the frames of MPEG audio.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct FrameGapTests {
    private func music(_ name: String, _ arguments: [String] = ["-write_xing", "0", "-id3v2_version", "0"]) async throws
        -> Data
    {
        try Data(contentsOf: URL(filePath: try await Studio.shared.music(as: name, arguments)))
    }

    /// Bytes that are neither a tag nor a frame, the same each time.
    private func noise(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3 &* 167) & 0x7F | 1 })
    }

    private func samples(_ name: String, _ bytes: Data) async throws -> ConversionResult {
        do {
            return try await convert(try Studio.shared.folder.write(name, bytes), Rendition(format: "wav")).result
        } catch {
            Issue.record("\(name): \(error)")
            throw error
        }
    }

    private func expectDamage(_ name: String, _ bytes: Data) async throws {
        let failed = await failure(try Studio.shared.folder.write(name, bytes))
        guard case .corruptMedia = failed?.reason else {
            Issue.record("\(name): \(failed.map { "\($0.reason)" } ?? "success")")
            return
        }
    }

    @Test(arguments: [
        ("gap.mp3", ["-write_xing", "0"]), ("gap.mp2", []), ("mp2-gap.ts", ["-c:a", "mp2"]),
        ("mp3-gap.ts", ["-c:a", "libmp3lame"]), ("gap.mpg", ["-c:a", "mp2"]),
    ])
    func `a lost stretch in the middle fails the conversion`(_ name: String, _ arguments: [String]) async throws {
        let bytes = try await music(name, arguments)
        _ = try await samples("whole-\(name)", bytes)
        let middle = bytes.count / 2
        try await expectDamage("noise-\(name)", bytes[..<middle] + noise(4096) + bytes[(middle + 4096)...])
        try await expectDamage("hole-\(name)", bytes[..<middle] + Data(count: 4096) + bytes[(middle + 4096)...])
    }

    @Test func `known tags between files are skipped, and any bytes around them`() async throws {
        let bytes = try await music("tags.mp3")
        let count = try await samples("plain-tags.mp3", bytes).samples
        // A picture in a tag is full of what looks like frames.
        let picture = Data(
            (0..<5000).map { (place: Int) -> UInt8 in place % 50 < 2 ? 0xFF : UInt8(truncatingIfNeeded: place &* 37) })
        let size = picture.count
        let id3 = Data("ID3".utf8) + [4, 0, 0, 0, 0, UInt8(size >> 7), UInt8(size & 0x7F)] + picture
        func block(_ flag: UInt8) -> Data {
            let fields: [UInt8] = [0xD0, 7, 0, 0, 132, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flag]
            return Data("APETAGEX".utf8) + fields + Data(count: 8)
        }
        let ape = block(0xA0) + noise(100) + block(0x80)
        let lyrics = Data("LYRICSBEGININD0000200LYR00005words000036LYRICS200".utf8)
        let id1 = Data("TAG".utf8) + noise(125)
        for (number, gap) in [id3, id1 + id3, ape + id1, lyrics + id1, Data(count: 3000), id1 + Data(count: 900) + id3]
            .enumerated()
        {
            // The parser takes frames behind a tag for a part of it.
            let least = 2 * count - 5 * 1152
            let result = try await samples("gap-\(number).mp3", bytes + gap + bytes)
            #expect((least...2 * count + 2 * 1152).contains(result.samples), "gap \(number): \(result.samples)")
        }
        for (name, file) in [
            ("before.mp3", Data(count: 700) + noise(300) + bytes), ("behind.mp3", bytes + noise(5000)),
            ("partial.mp3", bytes[1000...] + Data()),
        ] {
            let result = try await samples(name, file)
            #expect(result.samples >= count - 5 * 1152, "\(name): \(result.samples)")
        }
    }
}
