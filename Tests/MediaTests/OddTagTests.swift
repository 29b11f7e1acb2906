import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Tags

/// Tags that other programs read and that were written byte by byte here.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct OddTagTests {
    /// A frame of ID3v2 with a text in Latin-1.
    private static func frame(_ name: String, _ text: String, version: UInt8 = 3) -> [UInt8] {
        frame(name, [0] + Array(text.utf8), version: version)
    }

    private static func frame(_ name: String, _ body: [UInt8], version: UInt8 = 3) -> [UInt8] {
        let size = body.count
        switch version {
        case 2: return Array(name.utf8) + big(size, bytes: 3) + body
        case 3: return Array(name.utf8) + big(size) + [0, 0] + body
        default: return Array(name.utf8) + big(size, bits: 7) + [0, 0] + body
        }
    }

    /// A number in big-endian order, with the given number of bits in each byte.
    private static func big(_ number: Int, bytes: Int = 4, bits: Int = 8) -> [UInt8] {
        (1...bytes).map { place -> UInt8 in UInt8(number >> (bits * (bytes - place)) & (1 << bits - 1)) }
    }

    private static func tag(_ version: UInt8, _ body: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        Array("ID3".utf8) + [version, 0, flags] + big(body.count, bits: 7) + body
    }

    /// What a probe says of an MP3 with these bytes before and behind it.
    private func tags(_ head: [UInt8], tail: [UInt8] = []) async throws -> [String: [String]] {
        try await probe(head, tail: tail).tags
    }

    private func probe(_ head: [UInt8], tail: [UInt8] = []) async throws -> Probe {
        let path = try await Studio.shared.music(
            as: "bare.mp3", ["-t", "1", "-id3v2_version", "0", "-write_id3v1", "0", "-map_metadata", "-1"])
        let sound = try MemoryFile(path: path).bytes
        return try Probe.of(MemoryFile(head + sound + tail), stop: CancellationFlag())
    }

    @Test(arguments: [3, 4] as [UInt8])
    func `a frame that is empty or in lower case hides none behind it`(version: UInt8) async throws {
        let (title, artist) = (
            Self.frame("TIT2", "Title", version: version), Self.frame("TPE1", "Artist", version: version)
        )
        for odd in [Self.frame("TENC", [], version: version), Self.frame("tenc", "x", version: version)] {
            let tags = try await tags(Self.tag(version, title + odd + artist + [UInt8](repeating: 0, count: 20)))
            #expect(tags["title"] == ["Title"] && tags["artist"] == ["Artist"], "\(tags)")
        }
    }

    @Test func `a frame of ID3v2_2 that is empty hides none behind it`() async throws {
        let frames = [("TT2", "Title"), ("TEN", nil), ("TP1", "Artist")].flatMap { name, text in
            text.map { Self.frame(name, $0, version: 2) } ?? Self.frame(name, [], version: 2)
        }
        let tags = try await tags(Self.tag(2, frames))
        #expect(tags["title"] == ["Title"] && tags["artist"] == ["Artist"], "\(tags)")
    }

    @Test func `an extended header without padding hides no last frame`() async throws {
        let frames = { (version: UInt8) in
            Self.frame("TPE1", "Artist", version: version) + Self.frame("TIT2", "T", version: version)
        }
        let third = try await tags(Self.tag(3, [0, 0, 0, 6, 0, 0, 0, 0, 0, 0] + frames(3), flags: 0x40))
        #expect(third["title"] == ["T"] && third["artist"] == ["Artist"], "\(third)")
        let fourth = try await tags(Self.tag(4, [0, 0, 0, 6, 1, 0] + frames(4), flags: 0x40))
        #expect(fourth["title"] == ["T"] && fourth["artist"] == ["Artist"], "\(fourth)")
    }

    @Test func `unsynchronized tags and sizes in plain bytes are read as before`() async throws {
        // 0xFF 0x00 stands for 0xFF, in the text as ÿ.
        let frame = Self.frame("TIT2", [0, 0xFF, 0x41]) + Self.frame("TPE1", "Artist")
        let stuffed = frame.flatMap { $0 == 0xFF ? [$0, 0] : [$0] }
        #expect(try await tags(Self.tag(3, stuffed, flags: 0x80))["title"] == ["ÿA"])
        // As iTunes once wrote ID3v2.4.
        let long = String(repeating: "x", count: 200)
        let plain = Self.frame("TIT2", long, version: 3) + Self.frame("TPE1", "Artist", version: 4)
        let tags = try await tags(Self.tag(4, plain))
        #expect(tags["title"] == [long] && tags["artist"] == ["Artist"])
    }

    @Test func `credits by unlisted roles reach every target`() async throws {
        let fields = ["producer", "Ann", "mastering", "Ben", "mix", "Cem"].joined(separator: "\0")
        for head in [
            Self.tag(4, Self.frame("TIPL", fields, version: 4)), Self.tag(3, Self.frame("IPLS", fields)),
            Self.tag(2, Self.frame("IPL", fields, version: 2)),
        ] {
            let tags = try await tags(head)
            #expect(tags["producer"] == ["Ann"] && tags["mastering"] == ["Ben"] && tags["mixer"] == ["Cem"], "\(tags)")
        }
        let sound = try MemoryFile(path: try await Studio.shared.music(as: "untagged.mp3"))
        let source = MemoryFile(Self.tag(4, Self.frame("TIPL", fields, version: 4)) + sound.bytes)
        for format in ["mp3", "m4a", "flac", "ogg", "wma"] {
            let (_, file) = try source.converted(to: Rendition(format: format))
            let tags = try Probe.of(file, stop: CancellationFlag()).tags
            #expect(tags["producer"] == ["Ann"] && tags["mastering"] == ["Ben"], "\(format): \(tags)")
        }
    }

    @Test func `obsolete frames of credits and dates are read in ID3v2_4 too`() async throws {
        let credits = Self.frame("IPLS", [0] + Array("author\0Ann".utf8), version: 4)
        let dates = Self.frame("TORY", "1998", version: 4)
        #expect(try await tags(Self.tag(4, credits + dates)) == ["author": ["Ann"], "originaldate": ["1998"]])
        // Beside their successors they say nothing more.
        let both = Self.frame("TDOR", "1999", version: 4) + dates
        #expect(try await tags(Self.tag(4, both)) == ["originaldate": ["1999"]])
    }

    @Test func `a name without a role is among the credits`() async throws {
        for name in ["TIPL", "IPLS"] {
            let version: UInt8 = name == "TIPL" ? 4 : 3
            let alone = Self.tag(version, Self.frame(name, "Ann", version: version))
            #expect(try await tags(alone) == ["involvedpeople": ["Ann"]])
            let more = Self.tag(version, Self.frame(name, "author\0Ann\0Ben", version: version))
            #expect(try await tags(more) == ["author": ["Ann"], "involvedpeople": ["Ben"]])
        }
    }

    @Test func `lyrics beside those with times are kept, and cut as they are`() async throws {
        func words(_ language: String, _ text: String) -> [UInt8] { Self.frame("USLT", "\(language)\0\(text)") }
        func times(_ language: String, _ text: String) -> [UInt8] {
            Self.frame("SYLT", [0] + Array(language.utf8) + [2, 1, 0] + Array(text.utf8) + [0, 0, 0, 3, 0xE8])
        }
        let lyrics: [([UInt8], [String: [String]])] = [
            (
                words("eng", "[00:01.00]one") + words("deu", "eins"),
                ["lyrics": ["eins"], "syncedlyrics": ["[00:01.00]one"]]
            ),
            (
                words("deu", "eins") + words("eng", "[00:01.00]one"),
                ["lyrics": ["eins"], "syncedlyrics": ["[00:01.00]one"]]
            ),
            (times("eng", "one") + words("eng", "[00:01.000]one"), ["lyrics": ["[00:01.00]one"]]),
            (
                times("eng", "one") + times("deu", "eins"),
                ["lyrics": ["[00:01.00]one"], "syncedlyrics": ["[00:01.00]eins"]]
            ),
        ]
        for (frames, expected) in lyrics { #expect(try await tags(Self.tag(3, frames)) == expected) }
        let sound = try MemoryFile(path: try await Studio.shared.music(as: "untagged.mp3"))
        let source = MemoryFile(Self.tag(3, lyrics[3].0) + sound.bytes)
        for format in ["mp3", "flac", "m4a"] {
            let cut = try source.converted(to: Rendition(format: format), start: MediaTime(value: 1, timescale: 2)).file
            let tags = try Probe.of(cut, stop: CancellationFlag()).tags
            #expect(tags == ["lyrics": ["[00:00.50]one"], "syncedlyrics": ["[00:00.50]eins"]], "\(format): \(tags)")
        }
    }

    @Test func `the day before the year makes one date`() async throws {
        let frames = Self.frame("TDA", "1405", version: 2) + Self.frame("TYE", "2003", version: 2)
        #expect(try await tags(Self.tag(2, frames))["date"] == ["2003-05-14"])
        let third = Self.frame("TDAT", "1405") + Self.frame("TYER", "2003")
        #expect(try await tags(Self.tag(3, third))["date"] == ["2003-05-14"])
    }

    @Test func `a byte order mark alone is no date`() async throws {
        let frames = Self.frame("TYER", [1, 0xFF, 0xFE]) + Self.frame("TIT2", "Title")
        #expect(try await tags(Self.tag(3, frames)) == ["title": ["Title"]])
        let fourth = Self.frame("TDRC", [1, 0xFE, 0xFF, 0, 0], version: 4) + Self.frame("TIT2", "Title", version: 4)
        #expect(try await tags(Self.tag(4, fourth)) == ["title": ["Title"]])
    }

    @Test func `a content group is the grouping, or a work beside iTunes's own frame`() async throws {
        let group = Self.frame("TIT1", "Group", version: 4)
        #expect(try await tags(Self.tag(4, group)) == ["grouping": ["Group"]])
        let both = group + Self.frame("GRP1", "Apple", version: 4)
        #expect(try await tags(Self.tag(4, both)) == ["grouping": ["Apple"], "work": ["Group"]])
        let sound = try MemoryFile(path: try await Studio.shared.music(as: "untagged.mp3"))
        let (_, file) = try MemoryFile(Self.tag(4, group) + sound.bytes).converted(to: Rendition(format: "mp3"))
        #expect(file.bytes.lastIndex(of: Array("TIT1".utf8)) != nil, "other programs look for TIT1")
    }

    @Test func `the genre of ID3v1 is read`() async throws {
        var tag = [UInt8](repeating: 0, count: 128)
        tag.replaceSubrange(0..<8, with: Array("TAGTitle".utf8))
        tag[127] = 17
        #expect(try await tags([], tail: tag) == ["title": ["Title"], "genre": ["Rock"]])
        tag[127] = 255
        #expect(try await tags([], tail: tag) == ["title": ["Title"]])
    }

    @Test func `what only ID3v1 has is read beside other tags`() async throws {
        var tag = [UInt8](repeating: 0, count: 128)
        for (place, text) in [(0, "TAGTitle that is cut"), (33, "Artist"), (93, "1999"), (97, "Comment")] {
            tag.replaceSubrange(place..<place + text.utf8.count, with: Array(text.utf8))
        }
        (tag[126], tag[127]) = (7, 17)
        let head = Self.tag(3, Self.frame("TIT2", "Title that is cut short") + Self.frame("TALB", "Album"))
        #expect(
            try await tags(head, tail: tag) == [
                "title": ["Title that is cut short"], "album": ["Album"], "artist": ["Artist"], "date": ["1999"],
                "comment": ["Comment"], "track": ["7"], "genre": ["Rock"],
            ])
    }

    @Test(arguments: ["image/JPG", "JPG", "image/pjpeg", "", "image/jpeg"])
    func `a cover reaches MPEG-4 whatever its media type says`(mediaType: String) async throws {
        let path = try await Studio.shared.source(
            "odd-cover.jpg", ["-f", "lavfi", "-i", "color=red:s=48x48", "-frames:v", "1"])
        let picture = try MemoryFile(path: path).bytes
        let body = [0] + Array(mediaType.utf8) + [0, 3, 0] + picture
        let sound = try MemoryFile(path: try await Studio.shared.music(as: "untagged.mp3"))
        let source = MemoryFile(Self.tag(3, Self.frame("APIC", body)) + sound.bytes)
        let (result, file) = try source.converted(to: Rendition(format: "m4a"))
        let pictures = try Probe.of(file, stop: CancellationFlag()).pictures
        #expect(pictures.map(\.mediaType) == ["image/jpeg"] && pictures.map(\.bytes) == [picture.count])
        #expect(!result.warnings.contains { $0.code == "pictures_dropped" })
    }

    @Test(arguments: [[UInt8](), [0], [0, 0, 0]] as [[UInt8]])
    func `a tempo of any width is read from MPEG-4`(zeros: [UInt8]) async throws {
        func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
            [0, 0, UInt8((body.count + 8) >> 8), UInt8((body.count + 8) & 0xFF)] + Array(name.utf8) + body
        }
        let tempo = box("tmpo", box("data", [0, 0, 0, 21, 0, 0, 0, 0] + zeros + [120]))
        let title = Self.title(box)
        let handler = box("hdlr", [0, 0, 0, 0, 0, 0, 0, 0] + Array("mdirappl".utf8) + [UInt8](repeating: 0, count: 9))
        let user = box("udta", box("meta", [0, 0, 0, 0] + handler + box("ilst", tempo + title)))
        let path = try await Studio.shared.music(
            as: "untagged.m4a", ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact"])
        var bytes = try MemoryFile(path: path).bytes
        // The index is the last box, and what it has of users its last one.
        let index = try #require(bytes.lastIndex(of: Array("moov".utf8))) - 4
        if let old = bytes.lastIndex(of: Array("udta".utf8)), old > index { bytes.removeSubrange((old - 4)...) }
        bytes += user
        for offset in 0..<4 { bytes[index + offset] = UInt8((bytes.count - index) >> (8 * (3 - offset)) & 0xFF) }
        let tags = try Probe.of(MemoryFile(bytes), stop: CancellationFlag()).tags
        #expect(tags["bpm"] == ["120"] && tags["title"] == ["T"], "\(tags)")
    }

    @Test func `boxes that are nested without bound are left as they are`() {
        var boxes: [UInt8] = []
        for _ in 0..<100_000 {
            let size = boxes.count + 8
            if size > 80_000 { break }
            boxes = Self.big(size) + Array("udta".utf8) + boxes
        }
        #expect(MovieIntegers.normalized(boxes) == boxes && boxes.count == 80_000)
    }

    private static func title(_ box: (String, [UInt8]) -> [UInt8]) -> [UInt8] {
        var title = box("_nam", box("data", [0, 0, 0, 1, 0, 0, 0, 0, UInt8(ascii: "T")]))
        title[4] = 0xA9
        return title
    }

    @Test func `numbers of every width are read from WMA`() async throws {
        let wma = try await Studio.shared.music(as: "numbers.wma", ["-metadata", "WM/BeatsPerMinute=12345"])
        var bytes = try MemoryFile(path: wma).bytes
        // The text becomes a DWORD, type 3 of 4 bytes; the object and the header that hold it are 8 bytes shorter.
        let value = Array("12345\0".utf8).flatMap { [$0, 0] as [UInt8] }
        let place = try #require(bytes.lastIndex(of: value))
        try #require(bytes[place - 4] == 0 && bytes[place - 2] == 12)
        (bytes[place - 4], bytes[place - 2]) = (3, 4)
        bytes.replaceSubrange(place..<place + 12, with: [120, 0, 0, 0])
        let object = try #require(bytes.lastIndex(of: [0x40, 0xA4, 0xD0, 0xD2, 0x07, 0xE3, 0xD2, 0x11]))
        for size in [16, object + 16] {
            let less = Int(bytes[size]) + Int(bytes[size + 1]) << 8 - 8
            (bytes[size], bytes[size + 1]) = (UInt8(less & 0xFF), UInt8(less >> 8))
        }
        let tags = try Probe.of(MemoryFile(bytes), stop: CancellationFlag()).tags
        #expect(tags["bpm"] == ["120"], "\(tags)")
    }

    @Test(arguments: ["mp3", "m4a", "flac", "ogg", "opus", "mka", "wav"])
    func `an empty title of a chapter stays empty`(format: String) async throws {
        let list = await Studio.shared.output("txt")
        let chapters =
            "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle=\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=6000\ntitle=Two\n"
        try Data((";FFMETADATA1\n" + chapters).utf8).write(to: URL(filePath: list))
        let path = await Studio.shared.output("mka")
        try await Studio.ffmpeg(
            [
                "-i", try await Studio.shared.music(), "-i", list, "-map_chapters", "1", "-map", "0:a", "-c:a", "flac",
                path,
            ])
        let (_, file) = try MemoryFile(path: path).converted(to: Rendition(format: format))
        #expect(try Probe.of(file, stop: CancellationFlag()).chapters.map(\.title) == ["", "Two"])
    }
}

extension [UInt8] {
    /// Where the bytes stand last.
    fileprivate func lastIndex(of bytes: [UInt8]) -> Int? {
        indices.dropLast(bytes.count - 1).last { self[$0..<$0 + bytes.count].elementsEqual(bytes) }
    }
}
