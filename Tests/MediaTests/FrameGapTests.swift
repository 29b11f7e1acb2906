import Bytes
import CLibav
import Demuxing
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
        try await expectDamage("noise-\(name)", bytes[..<middle] + noise(8192) + bytes[(middle + 8192)...])
        try await expectDamage("hole-\(name)", bytes[..<middle] + Data(count: 8192) + bytes[(middle + 8192)...])
    }

    @Test func `any bytes around the frames are skipped`() async throws {
        let bytes = try await music("around.mp3")
        let count = try await samples("plain-around.mp3", bytes).samples
        for (name, file) in [
            ("before.mp3", Data(count: 700) + noise(300) + bytes), ("behind.mp3", bytes + noise(5000)),
            ("partial.mp3", bytes[1000...] + Data()),
        ] {
            let result = try await samples(name, file)
            #expect(result.samples >= count - 5 * 1152, "\(name): \(result.samples)")
        }
    }

    private static let old = Data("TAGTitle".utf8) + Data(count: 120)
    private static let lyrics = Data("LYRICSBEGININD0000200LYR00005words000036LYRICS200".utf8)

    /// ID3v2.3 with a frame.
    private static func id3(_ name: String, _ content: Data) -> Data {
        let size = content.count + 10
        let fields: [UInt8] = [3, 0, 0, 0, UInt8(size >> 14), UInt8(size >> 7 & 0x7F), UInt8(size & 0x7F)]
        let length: [UInt8] = [0, 0, UInt8(content.count >> 8), UInt8(content.count & 0xFF), 0, 0]
        return Data("ID3".utf8) + fields + Data(name.utf8) + length + content
    }

    /// The mark of UTF-16 and a letter behind it look like the header of a frame of layer I.
    private static let text = id3(
        "TIT2", Data([1, 0xFF, 0xFE]) + Data("A title of a song".utf16.flatMap { [UInt8($0), 0] }))

    /// A picture is full of what looks like frames, of which the last one ends behind the tag.
    private static var picture: Data {
        let header: [UInt8] = [0xFF, 0xFB, 0x90, 0x64]
        let content = (0..<100).flatMap { header + [UInt8](repeating: UInt8($0), count: 46) } + header
        return id3("APIC", Data([0] + Array("image/png".utf8) + [0, 3, 0] + content))
    }

    private static var ape: Data {
        func block(_ flag: UInt8) -> Data {
            let fields: [UInt8] = [0xD0, 7, 0, 0, 132, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flag]
            return Data("APETAGEX".utf8) + fields + Data(count: 8)
        }
        return block(0xA0) + Data(repeating: 0x78, count: 100) + block(0x80)
    }

    private static let tags: [(String, Data)] = [
        ("ID3v1", old), ("ID3v2 in UTF-16", text), ("ID3v2 with a picture", picture), ("ID3v1 and ID3v2", old + text),
        ("Lyrics3 and ID3v1", lyrics + old), ("APE, ID3v1 and a picture", ape + old + picture),
        ("zeros between tags", old + Data(count: 900) + picture),
        ("3,000 empty tags", Data((0..<3000).flatMap { _ in empty })),
    ]
    private static let empty: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 0]

    @Test(arguments: [["-write_xing", "0"], []])
    func `a tag between two frames costs no sample`(_ arguments: [String]) async throws {
        let source = try await Studio.shared.music(
            as: "tag-between.mp3", ["-t", "3", "-id3v2_version", "0"] + arguments)
        let expected = try await decode(source, as: Float.self, "f32le")
        let frames = try split(fileBytes(source))
        for (name, tag) in Self.tags {
            let tagged = frames.enumerated().flatMap { $0.offset % 30 == 10 ? tag + $0.element : $0.element }
            let found = MemoryFile(tagged)
            #expect(try Samples.firstDifference(found.samples(), expected[...]) == nil, "\(name)")
            let whole = try found.converted(to: Rendition(format: "wav"))
            #expect(whole.result.damage.events == 0 && whole.result.samples * 2 == Int64(expected.count), "\(name)")
            #expect(whole.result.warnings.map(\.code) == ["junk_skipped"], "\(name)")
            var rendition = Rendition(format: "mp3")
            rendition.passthrough = .require
            let copy = try found.converted(to: rendition).result
            #expect(copy.samples * 2 == Int64(expected.count), "\(name), copied")
        }
    }

    @Test(arguments: [("ac3", AV_CODEC_ID_AC3), ("eac3", AV_CODEC_ID_EAC3), ("aac", AV_CODEC_ID_AAC)])
    func `a tag between two frames of AC-3 or ADTS costs no sample`(
        _ kind: String, _ codec: AVCodecID
    ) async throws {
        let source = try await Studio.shared.music(as: "tag-between.\(kind)", ["-t", "2"])
        let frames = try split(fileBytes(source), codec)
        let expected = try MemoryFile(path: source).samples()
        for (name, tag) in Self.tags {
            let tagged = frames.enumerated().flatMap { $0.offset % 20 == 10 ? tag + $0.element : $0.element }
            let found = MemoryFile(tagged)
            let isEqual = try found.samples() == expected
            #expect(isEqual, "\(name)")
            let whole = try found.converted(to: Rendition(format: "wav"))
            #expect(whole.result.damage.events == 0, "\(name)")
            let cut = try found.converted(
                to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(value: 1, timescale: 1),
                end: MediaTime(value: 3, timescale: 2)
            ).file.samples()
            let isSlice = cut == Array(expected[88_200..<132_300])
            #expect(isSlice, "\(name)")
        }
    }

    @Test func `a tag that claims more than its bytes hides no sound`() async throws {
        let source = try await Studio.shared.music(
            as: "claims.mp3", ["-t", "3", "-write_xing", "0", "-id3v2_version", "0"])
        let frames = try split(fileBytes(source))
        for size in [[0x7F, 0x7F, 0x7F, 0x7F], [0, 0, 0x40, 0x11]] as [[UInt8]] {
            let tag = Array("ID3".utf8) + [3, 0, 0] + size
            let bytes = frames[..<60].flatMap(\.self) + tag + frames[60...].flatMap(\.self)
            let whole = try MemoryFile(bytes).converted(to: Rendition(format: "wav"))
            #expect(whole.result.samples >= Int64(frames.count - 1) * 1152, "\(size)")
        }
    }

    @Test(arguments: [1, 100, 500]) func `unknown bytes between two frames leave the frame behind them`(count: Int)
        async throws
    {
        let source = try await Studio.shared.music(
            as: "loose.mp3", ["-t", "3", "-write_xing", "0", "-id3v2_version", "0"])
        let expected = try await decode(source, as: Float.self, "f32le")
        let frames = try split(fileBytes(source))
        let bytes = frames[..<60].flatMap(\.self) + noise(count) + frames[60...].flatMap(\.self)
        // As many frames of silence as the bytes may have been.
        let silence = (count + frames[59].count / 2) / frames[59].count * 1152 * 2
        let found = try MemoryFile(bytes).samples()
        #expect(found.count == expected.count + silence)
        #expect(found[..<(60 * 2304)].elementsEqual(expected[..<(60 * 2304)]))
        #expect(found[(60 * 2304 + silence)...].elementsEqual(expected[(60 * 2304)...]))
    }

    /// The frames of a file without other bytes.
    private func split(_ bytes: [UInt8], _ codec: AVCodecID = AV_CODEC_ID_MP3) throws -> [ArraySlice<UInt8>] {
        var (frames, rest): ([ArraySlice<UInt8>], ArraySlice<UInt8>) = ([], bytes[...])
        while !rest.isEmpty {
            let length = rest.withUnsafeBufferPointer {
                codec == AV_CODEC_ID_AAC ? FrameHeader.adtsLength($0) : FrameHeader.length(codec, $0)
            }
            frames.append(rest.prefix(try #require(length)))
            rest = rest.dropFirst(length!)
        }
        return frames
    }
}
