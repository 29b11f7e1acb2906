import Bytes
import Conversion
import Decoding
import FoundationEssentials
import Glibc
import HLS
import Lifecycle
import MediaTypes
import Playlists
import TestSupport
import Testing

@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct HLSInputTests {
    /// Samples before the sound, which ffmpeg's segments leave in.
    private static let priming = 1024

    /// Makes a playlist of the three seconds of music in segments of one.
    private func playlist(_ name: String, _ arguments: [String] = []) async throws -> String {
        let common = ["-c:a", "aac", "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod"]
        return try await Studio.shared.music(as: "\(name).m3u8", common + arguments)
    }

    private func fragments(_ name: String) async throws -> String {
        try await playlist(name, ["-hls_segment_type", "fmp4", "-hls_fmp4_init_filename", "\(name)-init.mp4"])
    }

    private func encrypted(_ name: String, vector: String?) async throws -> String {
        let folder = Studio.shared.folder
        let key = try folder.write("\(name)-key.ts", (0..<16).map { UInt8($0 * 7) })
        let info = try folder.write("\(name).info", text: "\(name)-key.ts\n\(key)\n\(vector.map { $0 + "\n" } ?? "")")
        return try await playlist(name, ["-hls_key_info_file", info])
    }

    /// All samples of a playlist, or of a range of it, as respool reads them.
    private func samples(_ path: String, from start: MediaTime = .zero, to end: MediaTime? = nil) async throws
        -> [Float]
    {
        let result = try await convert(path, Rendition(format: "wav", sampleFormat: .f32), start: start, end: end)
        return try await decode(result.path, as: Float.self, "f32le")
    }

    private func convert(
        _ path: String, _ rendition: Rendition, start: MediaTime = .zero, end: MediaTime? = nil
    ) async throws -> Converted {
        let output = await Studio.shared.output("wav")
        let result = try await onThread {
            let settings = SourceSettings(range: TimeRange(start: start, end: end))
            let file = Descriptor(owning: open(output, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
            let source = try HLSSource.resolve(
                MemorySource(path: path), nested: try FolderSources(of: path), settings: settings,
                stop: CancellationFlag())
            return try Converter.run(
                source: source, store: DescriptorStore(borrowing: file.number), rendition: rendition,
                range: settings.range, stop: CancellationFlag(), progress: { _ in })
        }
        return Converted(result: result, path: output)
    }

    private func failure(_ text: String, settings: SourceSettings = .init()) throws -> MediaError? {
        // What makes no sense names nothing.
        let place = Studio.shared.folder.file("x")
        let nested =
            try (try? FolderSources(of: place, source: Array(text.utf8)))
            ?? FolderSources(of: place, source: Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na\n".utf8))
        do throws(MediaError) {
            _ = try HLSSource.resolve(
                MemorySource(Array(text.utf8)), nested: nested, settings: settings, stop: CancellationFlag())
            return nil
        } catch { return error }
    }

    @Test(arguments: ["transport", "fragments", "numbered", "vector", "ranges"])
    func `segments are read as if they were one file`(kind: String) async throws {
        let path =
            switch kind {
            case "fragments": try await fragments("hls-fragments")
            case "numbered": try await encrypted("hls-numbered", vector: nil)
            case "vector": try await encrypted("hls-vector", vector: "00112233445566778899aabbccddeeff")
            case "ranges": try await playlist("hls-ranges", ["-hls_flags", "single_file"])
            default: try await playlist("hls-transport")
            }
        let whole = try await samples(path)
        let expected = try await decode(path, as: Float.self, "f32le")
        if kind == "fragments" {
            // Their last duration tells where the sound ends: before the frame does, which ffmpeg gives as a whole.
            #expect(whole.count == 2 * (Self.priming + 132_300))
            #expect(whole.elementsEqual(expected.prefix(whole.count)))
        } else {
            #expect(whole.count == expected.count)
            #expect(whole.elementsEqual(expected) == true)
        }
        let cut = try await samples(
            path, from: MediaTime(value: 1, timescale: 1), to: MediaTime(value: 7, timescale: 4))
        #expect(cut.elementsEqual(whole[2 * 44_100..<7 * 22_050]) == true)
    }

    @Test func `segments of MP3 between tags lose no frame`() async throws {
        // Frames of 384 bytes.
        let form = ["-ar", "48000", "-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"]
        let source = try await Studio.shared.music(as: "packed.mp3", form)
        let (bytes, size) = (try fileBytes(source), 40 * 384)
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 10] + [UInt8](repeating: 0, count: 10)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n"
        for start in stride(from: 0, to: bytes.count, by: size) {
            let segment = tag + tag + bytes[start..<min(start + size, bytes.count)]
            _ = try Studio.shared.folder.write(
                "packed-\(start).mp3", segment + Array("TAG".utf8) + [UInt8](repeating: 0, count: 125))
            text += "#EXTINF:0.96,\npacked-\(start).mp3\n"
        }
        let path = try Studio.shared.folder.write("packed.m3u8", text: text + "#EXT-X-ENDLIST\n")
        #expect(try await samples(path) == decode(source, as: Float.self, "f32le"))
    }

    @Test func `a stream whose timestamps restart loses nothing`() async throws {
        for path in [try await playlist("hls-again"), try await fragments("hls-anew")] {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let segments = text.split(separator: "\n").drop { !$0.hasPrefix("#EXTINF") }.filter {
                $0 != "#EXT-X-ENDLIST"
            }
            let twice =
                text.replacing("#EXT-X-ENDLIST", with: "")
                + (["#EXT-X-DISCONTINUITY"] + segments + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
            try twice.write(toFile: path + ".twice.m3u8", atomically: false, encoding: .utf8)
            let once = try await samples(path)
            let both = try await samples(path + ".twice.m3u8")
            // Only at the very end does a shorter last duration of fragments count.
            let padding = once.count / 2 % 1024 == 0 ? 0 : 2 * (1024 - once.count / 2 % 1024)
            #expect(both.count == once.count * 2 + padding)
            // The first frame of the second half overlaps with the last one of the first.
            let (first, second) = (both[..<once.count].elementsEqual(once), both[(once.count + padding)...])
            #expect(first)
            // The decoder makes noise of its own in between, so that the second half is only nearly the same.
            let error = zip(once, second).dropFirst(8192).reduce(0) { $0 + Double(($1.0 - $1.1) * ($1.0 - $1.1)) }
            #expect((error / Double(once.count)).squareRoot() < 0.01)
        }
    }

    @Test func `separate audio is preferred to audio among pictures, and the highest bit rate to others`() throws {
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="low/en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="Deutsch",LANGUAGE="de",URI="high/de.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="high/en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="low"
            a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="high"
            b.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.4d401e"
            c.m3u8
            """
        guard case .master(let read) = try HLSPlaylist.parse(Array(master.utf8)) else {
            Issue.record("no master playlist")
            return
        }
        #expect(try read.choose(.best) == "high/en.m3u8")
        #expect(try read.choose(.language("deu")) == "high/de.m3u8")
        #expect(try read.choose(.number(1)) == "high/de.m3u8")
        #expect(throws: PlaylistError.self) { try read.choose(.language("fr")) }
    }

    @Test func `a live playlist is followed until the range is there, and refused without a range`() async throws {
        let path = try await playlist("hls-live")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        let names = lines.filter { $0.hasSuffix(".ts") }
        // Looks at it show segments 0 and 1, then 1 and 2, then the end.
        let looks = [(0, 2, ""), (1, 3, ""), (1, 3, "#EXT-X-ENDLIST\n")].map { first, end, last in
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
                + names[first..<end].map { "#EXTINF:2,\n\($0)\n" }.joined() + last
        }
        let end = MediaTime(value: 5, timescale: 1)
        let (length, waits) = try await onThread {
            let nested = try FolderSources(of: path, source: Array(looks[0].utf8))
            nested.looks = Array(looks.dropFirst())
            let joined = try HLSSource.resolve(
                MemorySource(Array(looks[0].utf8)), nested: nested,
                settings: SourceSettings(range: TimeRange(start: .zero, end: end)), stop: CancellationFlag())
            return (joined.length, nested.waits)
        }
        let sizes = try names.prefix(3).map {
            try Data(contentsOf: URL(filePath: Studio.shared.folder.file($0))).count
        }
        #expect(length == Int64(sizes.reduce(0, +)))
        #expect(waits == [2, 2])
        let refusal = try #require(try failure(looks[0]))
        #expect(refusal.sentence == "the source is a live HLS playlist, which is endless; give a `duration`")
    }

    @Test(arguments: [
        ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXTINF:1,\na\n", "encrypted (SAMPLE-AES, DRM)"),
        ("#EXT-X-KEY:METHOD=AES-128\n#EXTINF:1,\na\n", "has no key"),
        ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xnone\n#EXTINF:1,\na\n", "initialization vector '0xnone'"),
        ("#EXT-X-BYTERANGE:9\n#EXTINF:1,\na\n", "without an offset"),
        ("#EXT-X-BYTERANGE:-9@1\n#EXTINF:1,\na\n", "byte range '-9@1'"),
        ("#EXTINF:nan,\na\n", "'nan' seconds"), ("#EXTINF:1,\n#EXT-X-GAP\na\n", "'a' is missing"),
        ("a\n#EXTINF:1,\nb\n", "does not declare the duration of 'a'"), ("#EXTINF:1,\n", "has no segments"),
        ("#EXT-X-MEDIA-SEQUENCE:-1\n#EXTINF:1,\na\n", "sequence number '-1'"), ("b.mp3\n", "a playlist (m3u)"),
        ("#EXT-X-STREAM-INF:BANDWIDTH=1\nself.m3u8\n", "refers to another master playlist"),
        ("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.4d401e\"\na.m3u8\n", "has no audio"),
    ])
    func `a playlist that makes no sense is refused`(lines: String, words: String) throws {
        let text = "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n" + lines
        // The other cases run beside the one that names it.
        if lines.contains("self.m3u8") { try Studio.shared.folder.write("self.m3u8", text: text) }
        let error = try #require(try failure(text))
        #expect(error.sentence.contains(words), "\(error.sentence)")
    }

    @Test(arguments: ["#EXTINF:-1,Station\nhttp://127.0.0.1/s\n", "#EXTINF:20,Title\na.mp3\n", "a.mp3\n"])
    func `a list of files or stations is not a playlist of HLS`(lines: String) throws {
        let error = try #require(try failure("#EXTM3U\n" + lines))
        #expect(error.sentence.hasPrefix("the source is a playlist (m3u) that is not one of HLS"), "\(error.sentence)")
        guard case .unsupportedFormat = error.reason else { Issue.record("\(error.reason)"); return }
    }

    @Test func `more segments and more bytes than a playlist may have are refused`() throws {
        let many =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + String(repeating: "#EXTINF:1,\na\n", count: HLSMedia.maxSegments + 1)
        #expect(try failure(many)?.sentence.contains("more than 100000 segments") == true)
        let large = "#EXTM3U\n" + String(repeating: "#" + String(repeating: "x", count: 1022) + "\n", count: 8 << 10)
        #expect(try failure(large)?.sentence.contains("over the limit of 8388608") == true)
    }
}

/// What playlists in a folder name, and nothing else.
final class FolderSources: NestedSources {
    private let folder: String
    /// The kinds and names that the playlists read so far have told.
    private var names: Set<String> = []
    /// What the source itself says when it is opened again.
    var looks: [String] = []
    private(set) var waits: [Double] = []

    /// What the source names, of which nothing but its folder is asked where the text is another's.
    init(of path: String, source: [UInt8]? = nil) throws {
        folder = String(path[...path.lastIndex(of: "/")!])
        try learn(try source ?? Array(Data(contentsOf: URL(filePath: path))))
    }

    private func learn(_ playlist: [UInt8]) throws {
        try playlist.withUnsafeBytes { bytes in
            try HLSPlaylist.forEachName(in: bytes) { names.insert("\($1) \($0)") }
        }
    }

    func open(_ reference: String, within parent: Int, as kind: NestedKind) throws -> NestedSource {
        if reference.isEmpty {
            let look = Array(looks.removeFirst().utf8)
            try learn(look)
            return NestedSource(number: 1, bytes: MemorySource(look))
        }
        guard names.contains("\(kind) \(reference)") else {
            throw NotInTime(description: "\(kind) '\(reference)' is not named")
        }
        let bytes = Array(try Data(contentsOf: URL(filePath: folder + reference)))
        if kind == .playlist { try learn(bytes) }
        return NestedSource(number: 1, bytes: MemorySource(bytes))
    }

    func expect(_ reference: String, within parent: Int, as kind: NestedKind) {}
    func scratch() throws -> any RandomAccessOutput { MemoryStore() }
    func wait(seconds: Double) throws { waits.append(seconds) }
}

/// Bytes in memory as a source.
final class MemorySource: ByteSource {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    convenience init(path: String) throws { self.init(Array(try Data(contentsOf: URL(filePath: path)))) }

    var length: Int64 { Int64(bytes.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard offset < length else { return 0 }
        let part = bytes[Int(offset)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }
}

/// A file in memory.
final class MemoryStore: RandomAccessOutput {
    private(set) var bytes: [UInt8] = []

    var length: Int64 { Int64(bytes.count) }

    func write(_ new: UnsafeRawBufferPointer, at offset: Int64) throws {
        let end = Int(offset) + new.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.replaceSubrange(Int(offset)..<end, with: new)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try MemorySource(bytes).read(into: buffer, at: offset)
    }
}
