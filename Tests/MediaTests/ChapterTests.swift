import Bytes
import Conversion
import Demuxing
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import Tags
import TestSupport
import Testing

/// Chapters that many formats have no place for, or that libav reads or writes only in part.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ChapterTests {
    /// Chapters by their first and last millisecond, in a file of a second.
    private static func chaptered(
        _ chapters: [(start: Int, end: Int, title: String)], as name: String = "mka", _ options: [String] = []
    ) async throws -> MemoryFile {
        let list = await Studio.shared.output("txt")
        let entries = chapters.map {
            "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\($0.start)\nEND=\($0.end)\ntitle=\($0.title)\n"
        }
        try Data((";FFMETADATA1\n" + entries.joined()).utf8).write(to: URL(filePath: list))
        let path = await Studio.shared.output(name)
        let sound = ["-f", "lavfi", "-i", "sine=r=32000:d=1.2", "-i", list, "-map_chapters", "1", "-map", "0:a"]
        try await Studio.ffmpeg(sound + options + [path])
        return try MemoryFile(path: path)
    }

    private static func chapters(_ file: MemoryFile) throws -> [Probe.Chapter] {
        try Probe.of(file, stop: CancellationFlag()).chapters
    }

    @Test(arguments: ["flac", "ogg", "opus", "mp3", "m4a", "wav", "mka"])
    func `more chapters than a format numbers are a warning, and others are kept`(_ format: String) async throws {
        let many = (0..<1025).map { (start: $0, end: $0 + 1, title: "Chapter \($0)") }
        let (result, file) = try await Self.chaptered(many).converted(to: Rendition(format: format))
        let chapters = try Self.chapters(file)
        let isNumbered = ["flac", "ogg", "opus"].contains(format)
        #expect(chapters.map(\.title) == many.prefix(isNumbered ? 1000 : 1025).map(\.title), "\(chapters.count)")
        let warnings = result.warnings.filter { $0.code == "chapters_dropped" }.map(\.message)
        #expect(warnings.count == (isNumbered ? 1 : 0), "\(warnings)")
        #expect(warnings.allSatisfy { $0.contains("the last 25 of 1025") }, "\(warnings)")
        // The count of Nero's list is one byte for libav, and players prefer the list to the whole track.
        #expect(file.bytes.firstRange(of: "chpl".utf8) == nil)
    }

    @Test func `a table of contents of ID3 has at most 255 children`() async throws {
        let many = (0..<600).map { (start: 2 * $0, end: 2 * $0 + 2, title: "\($0)") }
        let file = try await Self.chaptered(many).converted(to: Rendition(format: "mp3")).file
        // The element ID ends with a zero; flags and the number of children follow (id3v2-chapters-1.0, 3.2).
        let tables = file.bytes.indices.filter { file.bytes[$0...].starts(with: "CTOC".utf8) }
        let children = tables.map { table -> [String] in
            let size = file.bytes[table + 4..<table + 8].reduce(0) { $0 << 7 | Int($1) }
            let fields = file.bytes[table + 10..<table + 10 + size].split(
                separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            let rest = fields[1].dropFirst(2).split(separator: 0, omittingEmptySubsequences: false)
            return rest.prefix(Int(fields[1].dropFirst().first ?? 0)).map { String(decoding: $0, as: UTF8.self) }
        }
        let listed = children.flatMap { $0 }.filter { $0.hasPrefix("chp") }
        #expect(children.allSatisfy { !$0.isEmpty && $0.count <= 255 }, "\(children.map(\.count))")
        #expect(listed == (0..<600).map { "chp\($0)" }, "\(listed.count)")
    }

    @Test func `every chapter of a Nero list with more than 255 is read`() async throws {
        let list = (0..<300).flatMap { number -> [UInt8] in
            let title = Array("Part \(number)".utf8)
            return bigEndian(UInt64(number * 30_000), 8) + [UInt8(title.count)] + title
        }
        let body = [1, 0, 0, 0, 0] + bigEndian(300, 4) + list
        let box = bigEndian(UInt64(body.count + 8), 4) + Array("chpl".utf8) + body
        let user = bigEndian(UInt64(box.count + 8), 4) + Array("udta".utf8) + box
        var bytes = try await Self.chaptered([], as: "m4a", ["-map_metadata", "-1", "-fflags", "+bitexact"]).bytes
        // The movie is the last box of a file that ffmpeg writes.
        if let empty = bytes.firstRange(of: "udta".utf8) { bytes.replaceSubrange(empty, with: "free".utf8) }
        let movie = bytes.indices.last { bytes[$0...].starts(with: "moov".utf8) }! - 4
        bytes.replaceSubrange(movie..<movie + 4, with: bigEndian(UInt64(bytes.count - movie + user.count), 4))
        let chapters = try Self.chapters(MemoryFile(bytes + user))
        #expect(chapters.map(\.title) == (0..<300).map { "Part \($0)" }, "\(chapters.count)")
        // A start counts units of 100 ns.
        #expect(chapters.map { Int(($0.start * 1000).rounded()) } == (0..<300).map { 3 * $0 })
    }

    @Test(arguments: ["m4a", "mp4", "m4b", "mp3", "flac", "mka"])
    func `a first chapter that begins after the start keeps its time`(_ format: String) async throws {
        let source = try await Self.chaptered([(100, 500, "One"), (500, 1200, "Two")])
        let file = try source.converted(to: Rendition(format: format)).file
        let chapters = try Self.chapters(file)
        #expect(chapters.map(\.start) == [0.1, 0.5] && chapters.map(\.title) == ["One", "Two"], "\(chapters)")
        // And in what other programs read.
        let path = await Studio.shared.output(format)
        try Data(file.bytes).write(to: URL(filePath: path))
        let told = try await TagScript.read([path])[0]
        #expect(told.chapters.map(\.start) == [100, 500], "\(told.chapters)")
    }

    @Test(arguments: [[0xFE, 0xFF], [0xFF, 0xFE]] as [[UInt8]])
    func `titles of a QuickTime chapter track in UTF-16 end where they are said to`(mark: [UInt8]) async throws {
        let titles = ["abcdef", "ghijkl"]
        let source = try await Self.chaptered(
            [(0, 500, titles[0]), (500, 1200, titles[1])], as: "m4a", ["-movflags", "disable_chpl"])
        var bytes = source.bytes
        let wide = ["Éü", "Жд"]
        for (title, other) in zip(titles, wide) {
            let place = try #require(bytes.firstRange(of: [0, 6] + Array(title.utf8))).lowerBound + 2
            let units = other.utf16.flatMap { unit -> [UInt8] in
                let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
                return mark[0] == 0xFE ? pair : pair.reversed()
            }
            // Behind it, what another program has there instead of the box `encd`: the length of the next title.
            bytes.replaceSubrange(place..<place + 10, with: mark + units + [0, 10, 0, 10])
        }
        #expect(try Self.chapters(MemoryFile(bytes)).map(\.title) == wide)
    }

    // MARK: What ID3 keeps with a chapter

    private static let link = "https://example.org/1"
    private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    /// A chapter of a second with a title, a link and a picture, as programs for podcasts write it.
    private static func illustrated() async throws -> MemoryFile {
        func frame(_ name: String, _ body: [UInt8]) -> [UInt8] {
            Array(name.utf8) + bigEndian(UInt64(body.count), 4) + [0, 0] + body
        }
        let embedded =
            frame("TIT2", [0] + Array("Intro".utf8)) + frame("WXXX", [0] + Array("chapter url\0\(link)".utf8))
            + frame("APIC", [0] + Array("image/png".utf8) + [0, 3, 0] + picture)
        let times = bigEndian(0, 4) + bigEndian(1000, 4) + [UInt8](repeating: 0xFF, count: 8)
        let chapter = frame("CHAP", Array("c0\0".utf8) + times + embedded)
        let size = (0..<4).map { UInt8(chapter.count >> (7 * (3 - $0)) & 0x7F) }
        let sound = try await Studio.shared.source(
            "bare.mp3", ["-f", "lavfi", "-i", "sine=r=32000:d=1.2", "-id3v2_version", "0", "-map_metadata", "-1"])
        let head: [UInt8] = Array("ID3".utf8) + [3, 0, 0] + size
        return MemoryFile(head + chapter + (try fileBytes(sound)))
    }

    @Test(arguments: ["mp3", "wav", "aiff", "tta"])
    func `the picture and the link of a chapter are kept in ID3`(_ format: String) async throws {
        let source = try await Self.illustrated()
        for start in [MediaTime.zero, MediaTime(value: 1, timescale: 2)] {
            let (result, file) = try source.converted(to: Rendition(format: format), start: start)
            guard let chapter = file.bytes.firstRange(of: "CHAP".utf8)?.lowerBound else {
                #expect(format == "tta" && result.warnings.contains { $0.code == "chapters_dropped" }, "\(format)")
                continue
            }
            let size = file.bytes[chapter + 4..<chapter + 8].reduce(0) { $0 << 7 | Int($1) }
            let body = file.bytes[chapter + 10..<chapter + 10 + size]
            let parts = ["TIT2", "WXXX", Self.link, "APIC", "image/png"].map { body.firstRange(of: $0.utf8) != nil }
            #expect(parts == [true, true, true, true, true] && body.firstRange(of: Self.picture) != nil, "\(parts)")
            #expect(result.warnings.isEmpty, "\(result.warnings)")
        }
    }

    @Test func `a picture of a chapter that is over the limit is left out`() async throws {
        let file = try await Self.illustrated()
        let demuxer = try Demuxer.open(file, stop: CancellationFlag())
        let track = try demuxer.selectAudio()
        for (limit, count) in [(30, 0), (50, 1)] {
            var limits = SourceLimits()
            limits.pictureBytes = limit
            let metadata = try TagReader.read(file, demuxer, track, charset: nil, limits: limits)
            #expect(metadata.chapters.map(\.frames.count) == [count], "\(limit)")
            #expect(metadata.warnings.map(\.code) == (count == 0 ? ["pictures_dropped"] : []))
        }
    }

    @Test(arguments: ["flac", "ogg", "m4a", "mka"])
    func `the picture and the link of a chapter are kept or a warning`(_ format: String) async throws {
        let (result, file) = try await Self.illustrated().converted(to: Rendition(format: format))
        let isComment = ["flac", "ogg"].contains(format)
        #expect((file.bytes.firstRange(of: "CHAPTER000URL=\(Self.link)".utf8) != nil) == isComment)
        let dropped = result.warnings.filter { $0.code == "tags_dropped" }.map(\.message)
        #expect(dropped.count == 1, "\(result.warnings)")
        #expect(dropped.first?.contains(isComment ? "pictures" : "pictures and links") == true, "\(dropped)")
        // Back in ID3, the link of a comment is one of the chapter.
        guard isComment else { return }
        let back = try file.converted(to: Rendition(format: "mp3")).file.bytes
        #expect(back.firstRange(of: "WXXX".utf8) != nil && back.firstRange(of: Self.link.utf8) != nil)
    }
}
