import Bytes
import CLibav
import Conversion
import Demuxing
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Sources with more tags, or larger ones, than are read.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct ManyTagsTests {
    private static let maximum = 8192

    @Test(arguments: ["flac", "opus", "mp3", "wv", "caf"])
    func `no more than a maximum number of tags is read, by libav too`(_ container: String) async throws {
        let file = MemoryFile(try await Self.file(container, tags: Self.maximum + 1))
        #expect(try Probe.of(file, stop: CancellationFlag()).tags.count == Self.maximum)
        let warnings = try file.converted(to: Rendition(format: "wav")).result.warnings
        #expect(warnings.map(\.code) == ["tags_dropped"])
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let entries = [demuxer.context.pointee.metadata, demuxer.stream(0).pointee.metadata].map { av_dict_count($0) }
        #expect(entries.allSatisfy { $0 <= Self.maximum }, "\(entries)")
    }

    @Test func `pictures of FLAC are not read by libav`() async throws {
        let bytes = try await Self.flac(
            blocks: (0..<3).map { number in
                let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, UInt8(number)]
                return (
                    6, bigEndian(3, 4) + Self.text("image/png") + [UInt8](repeating: 0, count: 20) + Self.text(picture)
                )
            })
        let file = MemoryFile(bytes)
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let streams = demuxer.context.pointee.nb_streams
        #expect(streams == 1)
        #expect(try Probe.of(file, stop: CancellationFlag()).pictures.count == 3)
    }

    @Test(arguments: ["mp3", "m4a"])
    func `a tag that is left out for its size is not read by libav`(_ container: String) async throws {
        let picture = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 1, count: container == "mp3" ? 17 << 20 : 33 << 20)
        let file = MemoryFile(try await Self.file(container, picture: picture))
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let streams = demuxer.context.pointee.nb_streams
        #expect(streams == 1)
        let warnings = try file.converted(to: Rendition(format: "wav")).result.warnings
        #expect(warnings.map(\.code) == ["tags_dropped"])
    }

    // MARK: Files

    private static func bare(_ container: String) async throws -> [UInt8] {
        try fileBytes(
            try await Studio.shared.source(
                "untagged.\(container)",
                ["-f", "lavfi", "-i", "sine=440:r=48000:d=0.3", "-map_metadata", "-1", "-fflags", "+bitexact"]
                    + (container == "mp3" ? ["-id3v2_version", "0"] : [])))
    }

    private static func file(_ container: String, tags count: Int) async throws -> [UInt8] {
        // libav compares each name with all others: names that differ early take less time.
        let names = (0..<count).map { "\($0)".reversed() + "NAME" }
        let sound = try await bare(container)
        func comment() -> [UInt8] {
            littleEndian(0, 4) + littleEndian(UInt64(count), 4)
                + names.flatMap { name -> [UInt8] in
                    littleEndian(UInt64(name.utf8.count + 2), 4) + Array("\(name)=x".utf8)
                }
        }
        switch container {
        case "flac": return try await flac(blocks: [(4, comment())])
        case "opus":
            var file = OggFile(sound)
            file.edit(1) { $0 = Array("OpusTags".utf8) + comment() }
            return file.paged(headers: 2, [50], trim: 0)
        case "mp3":
            let frames = names.flatMap { name -> [UInt8] in
                let body = [0] + Array(name.utf8) + [0] + Array("x".utf8)
                return Array("TXXX".utf8) + bigEndian(UInt64(body.count), 4) + [0, 0] + body
            }
            return id3(frames) + sound
        case "wv":
            let items = names.flatMap { name -> [UInt8] in
                littleEndian(1, 4) + littleEndian(0, 4) + Array("\(name)".utf8) + [0, UInt8(ascii: "x")]
            }
            let fields =
                littleEndian(2000, 4) + littleEndian(UInt64(items.count + 32), 4) + littleEndian(UInt64(count), 4)
            return sound + items + Array("APETAGEX".utf8) + fields + [UInt8](repeating: 0, count: 12)
        default:
            let strings = bigEndian(UInt64(count), 4) + names.flatMap { Array($0.utf8) + [0, UInt8(ascii: "x"), 0] }
            let chunk = Array("info".utf8) + bigEndian(UInt64(strings.count), 8) + strings
            let data = sound.firstRange(of: Array("data".utf8))!.lowerBound
            return Array(sound[..<data]) + chunk + sound[data...]
        }
    }

    private static func file(_ container: String, picture: [UInt8]) async throws -> [UInt8] {
        let sound = try await bare(container)
        guard container == "m4a" else {
            let body = [0] + Array("image/jpeg".utf8) + [0, 3, 0] + picture
            return id3(Array("APIC".utf8) + bigEndian(UInt64(body.count), 4) + [0, 0] + body) + sound
        }
        func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
            bigEndian(UInt64(body.count + 8), 4) + Array(name.utf8) + body
        }
        let cover = box("covr", box("data", [0, 0, 0, 13, 0, 0, 0, 0] + picture))
        let handler = box(
            "hdlr", [UInt8](repeating: 0, count: 8) + Array("mdirappl".utf8) + [UInt8](repeating: 0, count: 9))
        let user = box("udta", box("meta", [0, 0, 0, 0] + handler + box("ilst", cover)))
        // The movie is the last box of a file that ffmpeg writes.
        var bytes = sound
        if let empty = bytes.firstRange(of: Array("udta".utf8)) {
            bytes.replaceSubrange(empty, with: Array("free".utf8))
        }
        let movie = bytes.indices.last { bytes[$0...].starts(with: "moov".utf8) }! - 4
        let size = bytes.count - movie + user.count
        bytes.replaceSubrange(movie..<movie + 4, with: bigEndian(UInt64(size), 4))
        return bytes + user
    }

    private static func id3(_ frames: [UInt8]) -> [UInt8] {
        let size = (0..<4).map { UInt8(frames.count >> (7 * (3 - $0)) & 0x7F) }
        return Array("ID3".utf8) + [3, 0, 0] + size + frames
    }

    private static func text(_ text: String) -> [UInt8] { Self.text(Array(text.utf8)) }

    private static func text(_ bytes: [UInt8]) -> [UInt8] { bigEndian(UInt64(bytes.count), 4) + bytes }

    /// FLAC with these blocks behind the first one.
    private static func flac(blocks: [(kind: UInt8, body: [UInt8])]) async throws -> [UInt8] {
        let sound = try await bare("flac")
        var (place, isLast) = (4, false)
        while !isLast {
            isLast = sound[place] & 0x80 != 0
            place += 4 + sound[place + 1..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        let header = Array(sound[..<4]) + [0] + sound[5..<42]
        let added = blocks.enumerated().flatMap { index, block -> [UInt8] in
            let mark: UInt8 = index == blocks.count - 1 ? 0x80 : 0
            return [mark | block.kind] + bigEndian(UInt64(block.body.count), 3) + block.body
        }
        return header + added + sound[place...]
    }
}
