import Bytes
import Conversion
import Demuxing
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Packets that are copied must sound as the same part of the source does, sample for sample.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct PassthroughTests {
    /// A source and the formats that take its packets.
    struct Pair: Sendable, CustomTestStringConvertible {
        let source: String
        let arguments: [String]
        let format: String
        var codec: String?
        /// Decibels of the source over the difference; nothing where every bit must be the same.
        var floor: Double?
        /// The cuts that are copied, by their place in `cuts`; the others are encoded.
        var copied = Set(0...3)
        /// Samples beside the range that the container cannot hide.
        var extra = 0

        var testDescription: String { "\(source) to \(format)" }
    }

    static let pairs: [Pair] = [
        Pair(source: "copy-320.mp3", arguments: ["-b:a", "320k"], format: "mp3"),
        Pair(source: "copy-128.mp3", arguments: ["-b:a", "128k"], format: "mp3"),
        Pair(source: "copy-v0.mp3", arguments: ["-q:a", "0"], format: "mp3"),
        Pair(
            source: "copy-notag.mp3", arguments: ["-b:a", "256k", "-write_xing", "0"], format: "mp3", copied: [0, 2, 3]),
        Pair(source: "copy-low.mp3", arguments: ["-ar", "22050", "-b:a", "96k"], format: "mp3"),
        Pair(source: "copy.m4a", arguments: ["-c:a", "aac", "-aac_pns", "0", "-b:a", "128k"], format: "m4a"),
        Pair(source: "copy-noise.m4a", arguments: ["-c:a", "aac", "-b:a", "96k"], format: "m4a", floor: 20),
        Pair(source: "copy.aac", arguments: ["-c:a", "aac", "-aac_pns", "0", "-b:a", "128k"], format: "m4a"),
        Pair(source: "copy.opus", arguments: ["-c:a", "libopus", "-b:a", "96k"], format: "opus", floor: 75),
        Pair(
            source: "copy.opus", arguments: ["-c:a", "libopus", "-b:a", "96k"], format: "ogg", codec: "opus", floor: 75),
        Pair(source: "copy.webm", arguments: ["-c:a", "libopus", "-b:a", "96k"], format: "opus", floor: 75),
        Pair(source: "copy-o.mp4", arguments: ["-c:a", "libopus", "-b:a", "96k"], format: "opus", floor: 75),
        Pair(source: "copy.ogg", arguments: ["-c:a", "libvorbis"], format: "ogg", copied: [0, 1]),
        Pair(source: "copy.flac", arguments: [], format: "flac", copied: [0]),
        Pair(source: "copy.flac", arguments: [], format: "ogg", codec: "flac", copied: [0]),
        Pair(source: "copy-f.oga", arguments: ["-c:a", "flac"], format: "flac", copied: [0]),
        Pair(source: "copy-a.m4a", arguments: ["-c:a", "alac"], format: "m4a", codec: "alac", copied: [0]),
        Pair(source: "copy-a.m4a", arguments: ["-c:a", "alac"], format: "caf", codec: "alac", copied: [0]),
        Pair(source: "copy-a.caf", arguments: ["-c:a", "alac"], format: "alac", copied: [0]),
    ]

    /// All of the source, its beginning, its middle and its end.
    static let cuts: [(start: MediaTime, end: MediaTime?)] = [
        (.zero, nil), (.zero, MediaTime(value: 1_345_678, timescale: 1_000_000)),
        (MediaTime(value: 634_567, timescale: 1_000_000), MediaTime(value: 21, timescale: 10)),
        (MediaTime(value: 3, timescale: 2), nil),
    ]

    @Test func `a source that is encoded is not read again to find that it cannot be copied`() async throws {
        let path = try await Studio.shared.music(as: "copy.flac")
        let reads = try await onThread {
            try [Passthrough.never, .auto].map { passthrough in
                let source = CountedSource(try MemoryFile(path: path))
                var rendition = Rendition(format: "mp3")
                rendition.passthrough = passthrough
                _ = try Converter.run(
                    source: source, store: MemoryFile(), rendition: rendition, range: .whole, stop: CancellationFlag(),
                    progress: { _ in })
                return source.reads
            }
        }
        #expect(reads[0] == reads[1])
    }

    @Test(arguments: pairs) func `a copy sounds like the same part of the source`(pair: Pair) async throws {
        let source = try await Studio.shared.music(as: pair.source, pair.arguments)
        let whole = try await decoded(source)
        for (number, cut) in Self.cuts.enumerated() {
            var rendition = Rendition(format: pair.format, codec: pair.codec)
            rendition.passthrough = .auto
            let copy = try await convert(source, rendition, start: cut.start, end: cut.end)
            #expect(copy.result.copied == pair.copied.contains(number), "cut \(number)")
            guard copy.result.copied else { continue }
            let rate = copy.result.sampleRate
            let first = Int(cut.start.sampleIndex(rate: rate))
            let end = min(cut.end.map { Int($0.sampleIndex(rate: rate)) } ?? .max, whole.count / 2)
            let expected = Array(whole[2 * first..<2 * end])
            #expect(copy.result.samples == Int64(end - first), "cut \(number)")
            let got = try await decoded(copy.path)
            #expect(got.count == expected.count + 2 * pair.extra, "cut \(number)")
            if number > 1, let floor = pair.floor {
                let ratio = Samples.decibels(of: expected, over: got)
                #expect(ratio > floor, "cut \(number)")
            } else {
                #expect(got == expected, "cut \(number): \(Samples.decibels(of: expected, over: got)) dB")
            }
        }
    }

    @Test func `all of a one-page Vorbis file is copied`() async throws {
        let source = try await Studio.shared.music(as: "copy-page.ogg", ["-c:a", "libvorbis", "-ac", "1", "-t", "0.7"])
        var rendition = Rendition(format: "ogg")
        rendition.passthrough = .require
        let copy = try await convert(source, rendition)
        #expect(copy.result.samples == 30_870)
        let (whole, got) = (try await decoded(source), try await decoded(copy.path))
        #expect(whole.count == 30_870)
        #expect(got == whole)
    }

    /// Delays and paddings of the LAME tag, in samples; 0 and 0 are what an encoder writes that has measured neither.
    @Test(arguments: [(0, 0), (0, 600), (1, 0), (576, 529), (4095, 4095)])
    func `an MP3 is copied whatever its tag says of delay and padding`(_ delay: Int, _ padding: Int) async throws {
        var bytes = try fileBytes(try await Studio.shared.music(as: "copy-128.mp3", ["-b:a", "128k"]))
        let mark = try #require(bytes.firstRange(of: Array("Info".utf8)))
        let field = delay << 12 | padding
        for index in 0..<3 {
            bytes[mark.lowerBound + 141 + index] = UInt8(truncatingIfNeeded: field >> (16 - 8 * index))
        }
        let source = await Studio.shared.output("mp3")
        try Data(bytes).write(to: URL(filePath: source))
        var rendition = Rendition(format: "mp3")
        rendition.passthrough = .require
        let copy = try await convert(source, rendition)
        let samples = try await decode([source, copy.path], as: Float.self, "f32le")
        #expect(samples[0].count == 2 * Int(copy.result.samples))
        #expect(samples[0] == samples[1])
    }

    /// All samples of a file as respool's reader gives them.
    private func decoded(_ path: String) async throws -> [Float] {
        try await onThread { try MemoryFile(path: path).samples() }
    }

    @Test func `a copy plays without a gap in ffmpeg`() async throws {
        for (name, format) in [("copy-320.mp3", "mp3"), ("copy.opus", "opus")] {
            let pair = Self.pairs.first { $0.source == name }!
            let source = try await Studio.shared.music(as: name, pair.arguments)
            var rendition = Rendition(format: format)
            rendition.passthrough = .require
            let copy = try await convert(source, rendition, start: Self.cuts[2].start, end: Self.cuts[2].end)
            let samples = try await decode([source, copy.path], as: Float.self, "f32le")
            let first = Int(Self.cuts[2].start.sampleIndex(rate: copy.result.sampleRate))
            let expected = Array(samples[0][2 * first..<2 * (first + Int(copy.result.samples))])
            #expect(samples[1].count == expected.count)
            #expect(Samples.decibels(of: expected, over: samples[1]) > 75)
        }
    }

    @Test func `settings that differ from the source cause encoding, and an error if copying is required`() async throws
    {
        let source = try await Studio.shared.music(as: "copy-320.mp3", ["-b:a", "320k"])
        let wishes: [(String, Rendition)] = [
            ("bit_rate", Rendition(format: "mp3", bitRate: 128_000)), ("quality", Rendition(format: "mp3", quality: 2)),
            ("sample_rate", Rendition(format: "mp3", sampleRate: 48000)),
            ("channels", Rendition(format: "mp3", channels: 1)), ("flac", Rendition(format: "flac")),
        ]
        for (word, wish) in wishes {
            var rendition = wish
            rendition.passthrough = .auto
            #expect(try await convert(source, rendition).result.copied == false, "\(word)")
            rendition.passthrough = .require
            let refused = await failure(source, rendition)
            guard case .invalidSettings = refused?.reason else {
                Issue.record("\(word): \(String(describing: refused))")
                continue
            }
            #expect(refused!.sentence.contains(word))
        }
        var same = Rendition(format: "mp3", bitRate: 320_000, sampleRate: 44100, channels: 2)
        same.passthrough = .auto
        let copy = try await convert(source, same)
        #expect(copy.result.copied)
        #expect(copy.result.settings["bit_rate"] == Setting(requested: "320000", effective: "320000"))
        same.passthrough = .never
        #expect(try await convert(source, same).result.copied == false)
    }

    @Test func `layer II in MPEG-TS does not pass for layer III`() async throws {
        let source = try await Studio.shared.music(as: "layer-two.ts", ["-c:a", "mp2"])
        var rendition = Rendition(format: "mp3")
        rendition.passthrough = .auto
        let converted = try await convert(source, rendition)
        #expect(!converted.result.copied)
        #expect(try await ffprobe(converted.path, "stream=codec_name") == "mp3")
    }

    @Test func `FLAC without stream information is encoded`() async throws {
        var bytes = try fileBytes(try await Studio.shared.music(as: "uninformed.mka", ["-c:a", "flac"]))
        // An element that nobody knows takes the place of CodecPrivate.
        let place = try #require(bytes.firstRange(of: [0x63, 0xA2])).upperBound - 1
        bytes[place] = 0xAA
        let path = await Studio.shared.output("mka")
        try Data(bytes).write(to: URL(filePath: path))
        var rendition = Rendition(format: "flac")
        rendition.passthrough = .auto
        let made = try await convert(path, rendition).result
        #expect(made.copied == false && made.samples == 132_300)
    }

    /// libav skips what is left of the frame if nothing in it looks like a header, and otherwise makes a packet of some of it.
    @Test(arguments: [true, false]) func `ADTS with a packet of no frame is encoded`(isSkipped: Bool) async throws {
        let source = try await Studio.shared.music(as: "copy.aac", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "128k"])
        var bytes = try fileBytes(source)
        var frame = 0
        for _ in 0..<5 {
            frame += try #require(
                bytes[frame...].withUnsafeBufferPointer { FrameHeader.adtsLength($0) })
        }
        let length = try #require(bytes[frame...].withUnsafeBufferPointer { FrameHeader.adtsLength($0) })
        if isSkipped { for place in frame + 2..<frame + length { bytes[place] = 0x55 } }
        // Without its second byte a header is none, and what is left of the frame is a packet without one.
        bytes.remove(at: frame + 1)
        let path = await Studio.shared.output("aac")
        try Data(bytes).write(to: URL(filePath: path))
        var rendition = Rendition(format: "m4a")
        rendition.passthrough = .auto
        #expect(try await convert(path, rendition).result.copied == false)
    }

    @Test func `a cut that no container could hide is refused`() async throws {
        let low = try await Studio.shared.music(as: "copy-deep.mp3", ["-ac", "1", "-b:a", "32k"])
        var rendition = Rendition(format: "mp3")
        rendition.passthrough = .require
        let deep = await failure(low, rendition, start: MediaTime(value: 1, timescale: 1))
        #expect(deep?.sentence.contains("cannot mark") == true || deep?.sentence.contains("reservoir") == true)
        let lossless = try await Studio.shared.music(as: "copy.flac")
        rendition.format = "flac"
        let cut = await failure(lossless, rendition, start: MediaTime(value: 1, timescale: 1))
        #expect(cut?.sentence.contains("can be cut") == true)
    }

    @Test(arguments: ["copy-320.mp3", "copy.m4a", "copy.opus", "copy.flac", "copy.ogg", "copy-a.caf"])
    func `a truncated source is noticed`(name: String) async throws {
        let pair = Self.pairs.first { $0.source == name }!
        let source = try await Studio.shared.music(as: name, pair.arguments)
        let bytes = try Data(contentsOf: URL(filePath: source))
        let part = await Studio.shared.output(String(name.split(separator: ".")[1]))
        try bytes.prefix(bytes.count * 6 / 10).write(to: URL(filePath: part))
        for mode in [Passthrough.auto, .require] {
            var rendition = Rendition(format: pair.format, codec: pair.codec)
            rendition.passthrough = mode
            let error = await failure(part, rendition)
            switch error?.reason {
            case .truncated, .corruptMedia: break
            case .invalidSettings where mode == .require: break
            default: Issue.record("\(mode): \(String(describing: error))")
            }
        }
    }

    @Test func `packets are copied into tagged files`() async throws {
        let source = try await Studio.shared.music(as: "copy-title.mp3", ["-b:a", "320k", "-metadata", "title=Пример"])
        var rendition = Rendition(format: "mp3")
        rendition.passthrough = .require
        let copy = try await convert(source, rendition, start: MediaTime(value: 1, timescale: 1))
        let outcome = try await ffprobe(copy.path, "format_tags=title:stream=codec_name")
        #expect(outcome == "mp3")
        let bytes = try Data(contentsOf: URL(filePath: copy.path))
        #expect(bytes.firstRange(of: Data("Пример".utf8)) != nil)
    }

    @Test func `a range that reaches beyond the end causes a warning`() async throws {
        let source = try await Studio.shared.music(as: "copy-320.mp3", ["-b:a", "320k"])
        var rendition = Rendition(format: "mp3")
        rendition.passthrough = .require
        let copy = try await convert(
            source, rendition, start: MediaTime(value: 2, timescale: 1), end: MediaTime(value: 9, timescale: 1))
        #expect(copy.result.samples == 44100)
        #expect(copy.result.warnings.map(\.code) == ["range_cut"])
        let beyond = await failure(source, rendition, start: MediaTime(value: 9, timescale: 1))
        guard case .invalidTimeRange = beyond?.reason else {
            Issue.record("\(String(describing: beyond))")
            return
        }
    }
}

/// A source that counts how often it is read.
private final class CountedSource: ByteSource {
    private let source: MemoryFile
    private(set) var reads = 0

    init(_ source: MemoryFile) { self.source = source }

    var length: Int64 { source.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        reads += 1
        return source.read(into: buffer, at: offset)
    }
}
