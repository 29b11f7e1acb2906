import Containers
import Decoding
import Encoding
import Filters
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Bytes
@testable import Tags

@Suite(.failureReport, .timeLimit(.minutes(5))) struct WaveTagTests {
    @Test(arguments: [("wav", "RIFF"), ("aiff", "FORM")])
    func `tags that would reach beyond four gibibytes are left out`(_ name: String, _ start: String) throws {
        let path = Studio.shared.folder.file("brim.\(name)")
        defer { unlink(path) }
        let file = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
        // What nobody writes takes no room.
        let length = Int(UInt32.max) - 100
        #expect(ftruncate(file.number, length) == 0 && pwrite(file.number, start, 4, 0) == 4)
        var metadata = Metadata()
        metadata.texts["TITLE"] = [String(repeating: "x", count: 200)]
        var writer = TagWriter(
            metadata, TagSettings(), format: try #require(AudioFormat.named(name)),
            codec: try #require(AudioCodec.named("pcm")), rate: 48_000, sourceRate: 48_000)
        let store = DescriptorStore(borrowing: file.number)
        try writer.finish(store)
        #expect(writer.warnings.map(\.code) == ["tags_dropped"])
        #expect(try store.length == Int64(length))
    }

    /// Half a second at 48 kHz with a broadcast extension and three cue points, the second of them a region.
    private static func broadcast() async throws -> String {
        let plain = try await Studio.shared.source(
            "broadcast-plain.wav",
            [
                "-f", "lavfi", "-i", "sine=d=0.5:r=48000", "-write_bext", "1", "-metadata", "description=Take 7",
                "-metadata", "time_reference=172800000", "-metadata", "coding_history=A=PCM,F=48000,W=16,M=mono",
            ])
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: plain)))
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            Array(name.utf8) + number(body.count) + body + (body.count % 2 == 1 ? [0] : [])
        }
        var points = number(3)
        for (index, position) in [0, 7200, 16_800].enumerated() {
            points += number(index + 1) + number(position)
            points += Array("data".utf8) + number(0) + number(0)
            points += number(position)
        }
        var notes = Array("adtl".utf8)
        for (index, label) in ["Anfang", "Мотив", "終"].enumerated() {
            notes += chunk("labl", number(index + 1) + Array(label.utf8) + [0])
        }
        notes += chunk("ltxt", number(2) + number(4800) + Array("rgn ".utf8) + number(0) + number(0))
        bytes += chunk("cue ", points)
        bytes += chunk("LIST", notes)
        bytes += chunk("iXML", Array("<BWFXML><SCENE>1</SCENE></BWFXML>".utf8))
        bytes.replaceSubrange(4..<8, with: number(bytes.count - 8))
        let path = await Studio.shared.output("wav")
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// The body of the first chunk of a name, found by its letters alone.
    private func chunk(_ name: String, in path: String) throws -> [UInt8]? {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let letters = Array(name.utf8)
        guard let start = (12..<(bytes.count - 8)).first(where: { bytes[$0..<($0 + 4)].elementsEqual(letters) }) else {
            return nil
        }
        return Array(bytes[(start + 8)..<(start + 8 + word(bytes, start + 4))])
    }

    private func word(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    @Test func `bext, cue points and iXML stay as they are in WAV`() async throws {
        let source = try await Self.broadcast()
        let result = try await convert(source, Rendition(format: "wav"))
        for name in ["bext", "cue ", "iXML"] {
            #expect(try chunk(name, in: result.path) == chunk(name, in: source), "\(name)")
        }
        #expect(result.result.warnings.isEmpty)
        #expect(try await ffprobe(result.path, "format_tags=comment") == "Take 7")
        #expect(try await decode(result.path, as: Int16.self, "s16le") == decode(source, as: Int16.self, "s16le"))
    }

    @Test(arguments: ["wav", "rf64"], ["bext", "iXML", "_PMX", "INAM"])
    func `a chunk of any size fits, to the byte`(_ format: String, _ name: String) throws {
        let plain = Self.silence
        for size in 0..<9 {
            let body =
                name == "bext"
                ? [UInt8](repeating: 0x20, count: BroadcastExtension.fixedSize + size)
                : [UInt8](repeating: 0x41, count: size + 1)
            let inner = ChunkList.chunk(name, body)
            var bytes = plain + (name == "INAM" ? ChunkList.chunk("LIST", Array("INFO".utf8) + inner) : inner)
            bytes.replaceSubrange(4..<8, with: littleEndian(UInt64(bytes.count - 8), 4))
            let result = try MemoryFile(bytes).converted(to: Rendition(format: format))
            #expect(result.result.warnings.isEmpty)
            let found = try #require(result.file.bytes.firstRange(of: Array(name.utf8))).upperBound + 4
            #expect(result.file.bytes[found...].starts(with: body), "\(name) of \(body.count) bytes")
        }
    }

    /// A tag of any size fits into the space that is reserved for it: Ogg's lacing and the boxes of MPEG-4 leave no room for some.
    @Test(arguments: ["mp3", "flac", "opus", "m4a", "wma", "aiff", "wv"])
    func `a title of any size fits, to the byte`(_ format: String) throws {
        let source = MemoryFile(Self.silence)
        for size in Array(1..<10) + Array(248..<262) {
            var rendition = Rendition(format: format)
            let title = String(repeating: "x", count: size)
            rendition.tags = TagSettings(metadata: ["title": [title]])
            let file = try source.converted(to: rendition).file
            let text = Array(title.utf8)
            // WMA has characters of two bytes.
            let wide: [UInt8] = text.flatMap { [$0, 0] as [UInt8] }
            let isThere = file.bytes.firstRange(of: text) != nil || file.bytes.firstRange(of: wide) != nil
            #expect(isThere, "\(size) characters")
        }
    }

    /// A tenth of a second.
    private static let silence: [UInt8] =
        Array("RIFF".utf8) + littleEndian(9636, 4) + Array("WAVEfmt ".utf8) + littleEndian(16, 4) + littleEndian(1, 2)
        + littleEndian(1, 2) + littleEndian(48_000, 4) + littleEndian(96_000, 4) + littleEndian(2, 2)
        + littleEndian(16, 2) + Array("data".utf8) + littleEndian(9600, 4) + [UInt8](repeating: 0, count: 9600)

    @Test func `cue points and the time reference move with a cut and a rate`() async throws {
        let source = try await Self.broadcast()
        var rendition = Rendition(format: "wav")
        rendition.sampleRate = 24_000
        let result = try await convert(
            source, rendition, start: MediaTime(value: 1, timescale: 10), end: MediaTime(value: 1, timescale: 5))
        let cues = try #require(try chunk("cue ", in: result.path))
        #expect(word(cues, 0) == 1)
        #expect(word(cues, 4 + 20) == 1200)
        let time = try await ffprobe(result.path, "format_tags=time_reference")
        #expect(time == String((172_800_000 + 4800) / 2))
        let region = try #require(try chunk("ltxt", in: result.path))
        #expect(word(region, 4) == 1200)
    }

    @Test func `numbers that no clock and no gain can have do no harm`() async throws {
        var bytes = [UInt8](repeating: 0, count: BroadcastExtension.fixedSize)
        bytes.replaceSubrange(338..<346, with: [UInt8](repeating: 0xFF, count: 8))
        var metadata = Metadata(texts: ["REPLAYGAIN_TRACK_GAIN": ["1e300 dB"], "R128_ALBUM_GAIN": ["inf"]])
        metadata.chapters = [Metadata.Chapter(start: .max, end: .max, title: "never")]
        metadata.wave.broadcast = BroadcastExtension(bytes)
        metadata.wave.cut(first: 1, end: nil)
        #expect(metadata.wave.broadcast?.timeReference == .max)
        for name in ["opus", "flac"] {
            let format = try #require(AudioFormat.named(name))
            let codec = try #require(AudioCodec.named(name))
            _ = TagWriter(metadata, TagSettings(), format: format, codec: codec, rate: 48_000, sourceRate: 48_000)
        }
        for form in TagSettings.ChapterForm.allCases { _ = try ChapterFile.bytes(metadata.chapters, form) }
        #expect(ChapterFile.clock(1_499_999) == "00:00:00.001" && ChapterFile.clock(1_500_000) == "00:00:00.002")
        let measured = SoundMeasurement(samples: 1, loudness: Loudness(integrated: -20, truePeak: 400), sound: nil)
        #expect(measured.replayGain(SoundSettings(), isOpus: false)["REPLAYGAIN_TRACK_GAIN"] == "2.00 dB")
    }

    @Test func `cue points become chapters in other formats, and losses are reported`() async throws {
        let result = try await convert(try await Self.broadcast(), Rendition(format: "flac"))
        let told = try await TagScript.read([result.path])[0]
        #expect(told.chapters.map(\.title) == ["Anfang", "Мотив", "終"])
        #expect(told.chapters.map(\.start) == [0, 150, 350])
        #expect(result.result.warnings.map(\.code) == ["tags_dropped"])
    }
}
