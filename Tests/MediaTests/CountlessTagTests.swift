import Containers
import Encoding
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Bytes
@testable import Demuxing

/// Small files of nothing but empty tags, chunks or boxes, each of which costs whoever looks at all of them a read or two.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct CountlessTagTests {
    private static let empty: [UInt8] = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0]

    /// Counts the reads of some bytes.
    private final class CountedFile: ByteSource {
        private let file: MemoryFile
        private(set) var reads = 0

        init(_ bytes: [UInt8]) { file = MemoryFile(bytes) }

        var length: Int64 { file.length }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
            reads += 1
            return file.read(into: buffer, at: offset)
        }
    }

    /// How many reads a look at a file takes.
    private func reads(_ bytes: [UInt8], _ look: (any ByteSource) throws -> Void) rethrows -> Int {
        let file = CountedFile(bytes)
        try look(file)
        return file.reads
    }

    private static func repeated(_ piece: [UInt8]) -> [UInt8] { Samples.repeated(piece, 100_000) }

    @Test func `only a maximum number of tags in front is examined`() throws {
        let tags = Self.repeated(Self.empty) + [0xFF, 0xFB, 0x90, 0x64]
        let looks: [(String, (any ByteSource) throws -> Void)] = [
            ("few frames", { _ = try FewFrames.container($0) }), ("unread", { _ = try UnreadFormat.sentence($0) }),
            ("opening", { _ = try OpeningView($0) }), ("Musepack", { _ = try MusepackHeader($0) }),
            ("Xing", { _ = try XingHeader($0) }), ("deflated", { _ = try Self.hidden($0) }),
        ]
        for (name, look) in looks { #expect(try reads(tags, look) < 1000, "\(name)") }
        #expect(throws: MediaError.self) { try MemoryFile(tags).converted(to: Rendition(format: "wav")) }
    }

    private static func hidden(_ source: any ByteSource) throws -> any ByteSource {
        var size: Int64 = 0
        return try DeflatedTags.hidden(source, .ends, attachmentBytes: &size)
    }

    @Test func `a tag behind the maximum number is hidden from libav too`() throws {
        let tags = Array(repeatElement(Self.empty, count: 100).joined())
        let seen = try Self.hidden(MemoryFile(tags))
        let bytes = try #require(try SourceBytes(seen).read(at: 0, tags.count))
        #expect(bytes.indices.filter { bytes[$0] != tags[$0] } == [10 * TagBytes.maxLeading + 3])
        #expect(bytes[10 * TagBytes.maxLeading + 3] == 0xFF)
    }

    @Test func `a file with exactly the maximum number of tags is read`() async throws {
        let music = try await Studio.shared.music(as: "countless.mp3", ["-id3v2_version", "0"])
        let bare = try MemoryFile(path: music)
        let tags = Array(repeatElement(Self.empty, count: TagBytes.maxLeading).joined())
        let samples = try bare.converted(to: Rendition(format: "wav")).result.samples
        #expect(try MemoryFile(tags + bare.bytes).converted(to: Rendition(format: "wav")).result.samples == samples)
    }

    @Test(arguments: ["wav", "aiff", "w64", "caf"])
    func `only a maximum number of empty chunks is examined`(_ format: String) throws {
        let bytes: [UInt8] =
            switch format {
            case "wav": ascii("RIFF") + zeros(4) + ascii("WAVE") + Self.repeated(ascii("free") + zeros(4))
            case "aiff": ascii("FORM") + zeros(4) + ascii("AIFF") + Self.repeated(ascii("free") + zeros(4))
            case "w64": zeros(40) + Self.repeated(ascii("free") + zeros(12) + [24, 0, 0, 0, 0, 0, 0, 0])
            default: ascii("caff") + zeros(4) + Self.repeated(ascii("free") + zeros(8))
            }
        let descriptor = try #require(Container(demuxer: format)).descriptor
        #expect(try reads(bytes) { _ = try UnknownSize.resolved($0, descriptor) } < 40_000)
        #expect(try reads(bytes) { _ = try descriptor.extent.end($0) } < 40_000)
        // Chunks behind one of sound that is said to be empty.
        guard format == "wav" else { return }
        let sound = ascii("RIFF") + zeros(4) + ascii("WAVEdata") + zeros(4) + Array(bytes.dropFirst(12))
        #expect(try reads(sound) { _ = try UnknownSize.resolved($0, descriptor) } < 40_000)
    }

    @Test func `the edits of many tracks are found in one pass over the boxes`() async throws {
        var reads: [Int] = []
        for count in [8, 32] {
            let maps = (0..<count).flatMap { _ in ["-map", "0:a"] }
            let path = try await Studio.shared.source(
                "tracks-\(count).m4a", ["-f", "lavfi", "-i", "sine=d=0.1"] + maps + ["-c:a", "aac", "-ac", "1"])
            var bytes = try MemoryFile(path: path).bytes
            // The movie is the last box of a file that ffmpeg writes.
            let movie = try #require(bytes.indices.last { bytes[$0...].starts(with: "moov".utf8) }) - 4
            bytes += Array(repeatElement(box("free", []), count: 40 * count).joined())
            bytes.replaceSubrange(movie..<movie + 4, with: bigEndian(UInt64(bytes.count - movie), 4))
            reads.append(try self.reads(bytes) { _ = try Demuxer.open($0, stop: CancellationFlag()) })
        }
        // Four times as many of both.
        #expect(reads[1] < 6 * reads[0], "\(reads)")
    }

    private func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
        bigEndian(UInt64(body.count + 8), 4) + ascii(name) + body
    }

    private func nested(_ count: Int) -> [UInt8] { (0..<count).reduce([]) { inner, _ in box("ilst", inner) } }

    private func tags(_ user: [UInt8]) throws -> [UInt8]? {
        try MovieTags(MemoryFile(box("moov", box("udta", user))))?.body()
    }

    @Test func `boxes nested behind the maximum number are not read`() throws {
        let few = Array(repeatElement(box("free", []), count: 100).joined())
        let many = Array(repeatElement(box("free", []), count: 10_000).joined())
        #expect(try tags(few + nested(3)) != nil)
        #expect(try tags(few + nested(100)) == nil)
        #expect(try tags(many + nested(100)) == nil)
        let half = Array(many.prefix(48_000))
        #expect(try tags(box("ilst", half)) != nil)
        #expect(try tags(box("ilst", half) + box("ilst", half)) == nil)
    }

    @Test func `boxes are found in meta as TagLib finds them`() throws {
        // A version and flags, whatever they are, unless a box of QuickTime's follows at once.
        for start in [[], [0, 0, 0, 0], [0, 0, 0, 1]] as [[UInt8]] {
            #expect(try tags(box("meta", start + nested(3))) != nil)
            #expect(try tags(box("meta", start + nested(100))) == nil, "\(start)")
        }
        #expect(try tags(box("stsd", [0, 0, 0, 0, 0, 0, 0, 1] + nested(100))) == nil)
    }
}
