import Bytes
import CLibav
import Containers
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

    // `a later link` has those of Opus, which are comments as those of FLAC.
    @Test(arguments: ["flac", "mp3", "wv", "caf"])
    func `no more than a maximum number of tags is read, by libav too`(_ container: String) async throws {
        let file = MemoryFile(try await Self.file(container, tags: Self.maximum + 1))
        #expect(try Probe.of(file, stop: CancellationFlag()).tags.count == Self.maximum)
        let warnings = try file.converted(to: Rendition(format: "wav")).result.warnings
        #expect(warnings.map(\.code) == ["tags_dropped"])
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let entries = [demuxer.context.pointee.metadata, demuxer.stream(0).pointee.metadata].map { av_dict_count($0) }
        #expect(entries.allSatisfy { $0 <= Self.maximum }, "\(entries)")
    }

    @Test(arguments: ["mp3", "wv"])
    func `a tag of more entries than are read is told although few are texts`(_ container: String) async throws {
        let sound = try await Self.bare(container)
        let bytes: [UInt8]
        if container == "mp3" {
            func frame(_ name: String, _ body: [UInt8]) -> [UInt8] {
                Array(name.utf8) + bigEndian(UInt64(body.count), 4) + [0, 0] + body
            }
            let other = frame("PRIV", [UInt8(ascii: "x"), 0, 1])
            let frames =
                frame("TIT2", [0, UInt8(ascii: "T")]) + repeatElement(other, count: Self.maximum + 10).joined()
            bytes = Self.id3(frames) + sound
        } else {
            let items = (0..<Self.maximum + 10).map { ("NAME\($0)", UInt8(2)) }
            bytes = sound + Self.ape([("Title", 0)] + items)
        }
        let file = MemoryFile(bytes)
        #expect(try Probe.of(file, stop: CancellationFlag()).tags["title"]?.count == 1)
        let codes = try file.converted(to: Rendition(format: "wav")).result.warnings.map(\.code)
        #expect(codes.contains("tags_dropped"), "\(codes)")
    }

    @Test func `a later link with more tags than are read is told`() async throws {
        func link(_ tags: Int, _ serial: UInt8) async throws -> [UInt8] {
            var file = OggFile(try await Self.bare("opus"))
            let names = (0..<tags).map { "NAME\($0)" }
            file.edit(1) { $0 = Array("OpusTags".utf8) + Self.comment(names.map { ($0, "x") }) }
            return file.paged(headers: 2, [50], trim: 0, serial: serial)
        }
        for (count, codes) in [(10, []), (Self.maximum + 10, ["tags_dropped"])] {
            let file = MemoryFile(try await link(10, 1) + (try await link(count, 2)))
            for format in ["wav", "opus"] {
                let result = try file.converted(to: Rendition(format: format)).result
                #expect(result.warnings.map(\.code) == codes, "\(count) to \(format), copied: \(result.copied)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `a comment of a later stream of Ogg that is too large ends the reading`(isLink: Bool) async throws {
        let sound = try await Self.bare("opus")
        let head = try #require(sound.firstRange(of: Array("OpusTags".utf8))).lowerBound - 28
        // The identification header of another stream, and its comment, in as many pages as it takes.
        var other = Array(sound[..<head])
        other[14] ^= 0xFF
        var file = Self.summed(other[...])
        for number in 1...1100 {
            let flag: UInt8 = number == 1 ? 0 : 1
            var page = Array("OggS".utf8) + [0, flag] + [UInt8](repeating: 0xFF, count: 8) + other[14..<18]
            page += littleEndian(UInt64(number), 4) + [0, 0, 0, 0, 255] + [UInt8](repeating: 255, count: 255)
            page += number == 1 ? Array("OpusTags".utf8) : [UInt8](repeating: 0, count: 8)
            file += Self.summed((page + Self.zeros)[...])
        }
        let whole = isLink ? sound + file : Array(sound[..<head]) + file + sound[head...]
        let error = #expect(throws: MediaError.self) {
            try MemoryFile(whole).converted(to: Rendition(format: "wav"))
        }
        guard case .tooLarge = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 255 * 255 - 8)

    /// A page of Ogg with its checksum (RFC 3533, section 6).
    private static func summed(_ page: ArraySlice<UInt8>) -> [UInt8] {
        var page = Array(page)
        page.replaceSubrange(22..<26, with: [0, 0, 0, 0])
        let sum = av_crc(av_crc_get_table(AV_CRC_32_IEEE), 0, page, page.count)
        page.replaceSubrange(22..<26, with: bigEndian(UInt64(sum), 4))
        return page
    }

    /// A picture in the form of FLAC, and its media type.
    private static func picture(_ number: UInt8) -> [UInt8] {
        let bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, number]
        return bigEndian(3, 4) + text("image/png") + [UInt8](repeating: 0, count: 20) + text(bytes)
    }

    @Test(arguments: ["flac", "many blocks", "opus"])
    func `pictures of FLAC and Ogg are not read by libav`(_ form: String) async throws {
        let pictures = (0..<3).map { Self.picture($0) }
        let file: MemoryFile
        switch form {
        case "opus":
            var ogg = OggFile(try await Self.bare("opus"))
            let fields = pictures.map { ("METADATA_BLOCK_PICTURE", Data($0).base64EncodedString()) }
            ogg.edit(1) { $0 = Array("OpusTags".utf8) + Self.comment(fields) }
            file = MemoryFile(ogg.paged(headers: 2, [50], trim: 0))
        default:
            let empty = form == "flac" ? [] : (0..<FlacBlocks.maxBlocks).map { _ in (kind: UInt8(1), body: [UInt8]()) }
            file = MemoryFile(try await Self.flac(blocks: empty + pictures.map { (6, $0) }))
        }
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let streams = demuxer.context.pointee.nb_streams
        #expect(streams == 1)
        // What is behind more blocks than any program writes is not looked for.
        let count = try Probe.of(file, stop: CancellationFlag()).pictures.count
        #expect(count == (form == "many blocks" ? 0 : 3))
    }

    @Test(arguments: ["opus", "ogg", "oga"])
    func `a comment that is too large is empty for libav, and the sound is the same`(_ form: String) async throws {
        let options = form == "oga" ? ["-c:a", "flac", "-f", "ogg"] : form == "ogg" ? ["-c:a", "libvorbis"] : []
        let sound = ["-f", "lavfi", "-i", "sine=440:r=48000:d=0.3", "-metadata"]
        let long = "comment=" + String(repeating: "long ", count: 24_000)
        let path = try await Studio.shared.source("long-comment.\(form)", sound + [long] + options)
        let file = try MemoryFile(path: path)
        let whole = try #require(try OggComment(file, maxBytes: 1 << 20)?.shortened())
        #expect(whole.length == file.length)
        let short = try #require(try OggComment(file, maxBytes: 50_000)?.shortened())
        let bytes = try #require(try SourceBytes(short).read(at: 0, Int(short.length)))
        #expect(bytes.count < file.bytes.count - 115_000)
        let rendition = Rendition(format: "wav")
        let (first, second) = (try file.converted(to: rendition), try MemoryFile(bytes).converted(to: rendition))
        #expect(second.result.samples == first.result.samples && second.result.warnings.isEmpty)
        #expect(try MemoryFile(bytes).samples() == file.samples())
    }

    @Test(arguments: ["mp3", "m4a", "opus", "mka"])
    func `a tag that is left out for its size is not read by libav`(_ container: String) async throws {
        let size = ["mp3": 17 << 20, "opus": 25 << 20, "mka": 14 << 20][container] ?? 33 << 20
        let picture = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 1, count: size)
        let file = MemoryFile(try await Self.file(container, picture: picture))
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let streams = demuxer.context.pointee.nb_streams
        #expect(streams == 1)
        let warnings = try file.converted(to: Rendition(format: "wav")).result.warnings
        #expect(warnings.map(\.code) == ["tags_dropped"])
    }

    @Test func `attachments that are too large are looked for once`() async throws {
        let picture = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 1, count: 14 << 20)
        let bytes = try await Self.attached(picture)
        // The index at the start has the identifier too.
        let index = try #require(bytes.firstRange(of: [0x19, 0x41, 0xA4, 0x69])).upperBound
        let place = try #require(bytes[index...].firstRange(of: [0x19, 0x41, 0xA4, 0x69])).lowerBound
        let source = CountedSource(bytes, place: Int64(place))
        _ = try Probe.of(source, stop: CancellationFlag())
        #expect(source.count == 1)
    }

    /// Counts how often an identifier of four bytes is read at an offset.
    private final class CountedSource: ByteSource {
        private let file: MemoryFile
        private let place: Int64
        private(set) var count = 0

        init(_ bytes: [UInt8], place: Int64) { (file, self.place) = (MemoryFile(bytes), place) }

        var length: Int64 { file.length }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
            if offset == place, buffer.count == 4 { count += 1 }
            return file.read(into: buffer, at: offset)
        }
    }

    // MARK: Chapters

    @Test(arguments: [true, false])
    func `chapters whose numbers do not rise are not compared without a bound`(isRising: Bool) async throws {
        let count = 20_000
        let path = try await Studio.shared.source(
            "live.mka", ["-f", "lavfi", "-i", "sine=440:r=48000:d=0.3", "-f", "matroska", "-live", "1"])
        func element(_ id: [UInt8], _ body: [UInt8]) -> [UInt8] {
            id + [0x10] + bigEndian(UInt64(body.count), 3) + body
        }
        let atoms = (1...count).flatMap { number -> [UInt8] in
            let unique = bigEndian(UInt64(isRising ? number : count + 1 - number), 4)
            return element(
                [0xB6], element([0x73, 0xC4], unique) + element([0x91], bigEndian(UInt64(number) * 1000, 4)))
        }
        let chapters = element([0x10, 0x43, 0xA7, 0x70], element([0x45, 0xB9], atoms))
        var bytes = try MemoryFile(path: path).bytes
        let cluster = try #require(bytes.firstRange(of: [0x1F, 0x43, 0xB6, 0x75])).lowerBound
        bytes.insert(contentsOf: chapters, at: cluster)
        let file = MemoryFile(bytes)
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let found = Int(demuxer.context.pointee.nb_chapters)
        // n² / 2 comparisons, as many as for names.
        #expect(isRising ? found == count : found <= 2 * Self.maximum, "\(found)")
        let warnings = try file.converted(to: Rendition(format: "wav")).result.warnings.map(\.code)
        #expect(warnings == ["chapters_dropped"], "\(warnings)")
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
        func comment() -> [UInt8] { Self.comment(names.map { ($0, "x") }) }
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
            return sound + ape(names.map { ($0, 0) })
        default:
            let strings = bigEndian(UInt64(count), 4) + names.flatMap { Array($0.utf8) + [0, UInt8(ascii: "x"), 0] }
            let chunk = Array("info".utf8) + bigEndian(UInt64(strings.count), 8) + strings
            let data = sound.firstRange(of: Array("data".utf8))!.lowerBound
            return Array(sound[..<data]) + chunk + sound[data...]
        }
    }

    /// A Vorbis comment.
    private static func comment(_ fields: [(name: String, value: String)]) -> [UInt8] {
        littleEndian(0, 4) + littleEndian(UInt64(fields.count), 4)
            + fields.flatMap { field -> [UInt8] in
                let text = Array("\(field.name)=\(field.value)".utf8)
                return littleEndian(UInt64(text.count), 4) + text
            }
    }

    /// An APEv2 tag without a header; each item has one byte.
    private static func ape(_ items: [(name: String, flags: UInt8)]) -> [UInt8] {
        let content = items.flatMap { item -> [UInt8] in
            littleEndian(1, 4) + [item.flags, 0, 0, 0] + Array(item.name.utf8) + [0, UInt8(ascii: "x")]
        }
        let fields =
            littleEndian(2000, 4) + littleEndian(UInt64(content.count + 32), 4) + littleEndian(UInt64(items.count), 4)
        return content + Array("APETAGEX".utf8) + fields + [UInt8](repeating: 0, count: 12)
    }

    private static func file(_ container: String, picture: [UInt8]) async throws -> [UInt8] {
        if container == "mka" { return try await attached(picture) }
        let sound = try await bare(container)
        if container == "opus" {
            var file = OggFile(sound)
            let block = bigEndian(3, 4) + text("image/jpeg") + [UInt8](repeating: 0, count: 20) + text(picture)
            let field = ("METADATA_BLOCK_PICTURE", Data(block).base64EncodedString())
            file.edit(1) { $0 = Array("OpusTags".utf8) + comment([field]) }
            return file.paged(headers: 2, [50], trim: 0)
        }
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

    /// Matroska with five attachments of a picture.
    private static func attached(_ picture: [UInt8]) async throws -> [UInt8] {
        let path = await Studio.shared.output("jpg")
        try Data(picture).write(to: URL(filePath: path))
        let output = await Studio.shared.output("mka")
        let attachments = (1...5).flatMap { ["-attach", path, "-metadata:s:\($0)", "mimetype=image/jpeg"] }
        try await Studio.ffmpeg(["-f", "lavfi", "-i", "sine=440:r=48000:d=0.3"] + attachments + [output])
        return try fileBytes(output)
    }

    private static func id3(_ frames: [UInt8]) -> [UInt8] {
        let size = (0..<4).map { UInt8(frames.count >> (7 * (3 - $0)) & 0x7F) }
        let head: [UInt8] = Array("ID3".utf8) + [3, 0, 0]
        return head + size + frames
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
