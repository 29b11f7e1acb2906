import Bytes
import Encoding
import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ExactCutTests {
    private static let first = 1_234_567
    private static let end = 2_345_678

    /// A source in which every sample tells its place.
    private func ramp(_ channels: Int, _ name: String) async throws -> String {
        let studio = Studio.shared
        let samples = Sounds.ramp(0..<2_400_000, channels: channels)
        // A file of its own: another test may be having ffmpeg read its.
        let raw = await studio.output("raw")
        try samples.withUnsafeBytes { try Data($0).write(to: URL(filePath: raw)) }
        return try await studio.source(
            name, ["-f", "s16le", "-ar", "44100", "-ac", String(channels), "-i", raw])
    }

    @Test(arguments: ["flac", "wav", "m4a"])
    func `a ramp is cut to the sample in every lossless format`(_ container: String) async throws {
        let source = try await container == "m4a" ? alacRamp() : ramp(1, "ramp.\(container)")
        let expected = Sounds.ramp(Self.first..<Self.end)
        let formats = ["wav", "aiff", "caf", "flac", "alac"]
        var paths: [String] = []
        for format in formats {
            let converted = try await convert(
                source, Rendition(format: format), start: MediaTime(sample: Int64(Self.first), rate: 44_100),
                end: MediaTime(sample: Int64(Self.end), rate: 44_100))
            #expect(converted.result.samples == Int64(expected.count))
            paths.append(converted.path)
        }
        for (format, samples) in zip(formats, try await decode(paths, as: Int16.self, "s16le")) {
            #expect(samples == expected, "\(container) to \(format)")
        }
    }

    private func alacRamp() async throws -> String {
        try await Studio.shared.source("ramp.m4a", ["-i", ramp(1, "ramp.flac"), "-c:a", "alac"])
    }

    @Test func `both channels of a ramp are kept apart`() async throws {
        let source = try await ramp(2, "ramp-2.flac")
        let converted = try await convert(
            source, Rendition(format: "alac"), start: MediaTime(sample: 100_001, rate: 44_100),
            end: MediaTime(sample: 200_003, rate: 44_100))
        let samples = try await decode(converted.path, as: Int16.self, "s16le")
        #expect(samples == Sounds.ramp(100_001..<200_003, channels: 2))
    }

    @Test(arguments: [
        ("a.mp3", []), ("bare.mp3", ["-write_xing", "0"]), ("v.ogg", ["-c:a", "libvorbis"]), ("o.opus", []),
        ("f.ogg", ["-c:a", "flac"]), ("a.m4a", []), ("a.aac", []), ("a.mka", ["-c:a", "aac"]),
        ("f.mka", ["-c:a", "flac"]),
        ("o.webm", ["-c:a", "libopus"]), ("a.wv", []), ("a.tta", []), ("alac.caf", ["-c:a", "alac"]),
        ("fragments.mp4", ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"]),
    ])
    func `a cut gives the same samples as a whole decode, from any source`(_ name: String, _ arguments: [String])
        async throws
    {
        let source = try await Studio.shared.music(as: name, arguments)
        let isOpus = name.hasPrefix("o.")
        let whole = try await decode(source, as: Float.self, "f32le", isOpus ? Studio.opus : [])
        let rate = isOpus ? 48_000 : 44_100
        let (start, end) = (MediaTime(parsing: "1.3456789")!, MediaTime(parsing: "2.5")!)
        let converted = try await convert(source, Rendition(format: "wav", sampleFormat: .f32), start: start, end: end)
        let samples = try await decode(converted.path, as: Float.self, "f32le")
        let range = Int(start.sampleIndex(rate: rate))..<Int(end.sampleIndex(rate: rate))
        #expect(samples.count == range.count * 2)
        #expect(samples.elementsEqual(whole[range.lowerBound * 2..<range.upperBound * 2]))
    }

    @Test func `the padding that MP4 keeps after the last sample is left out`() async throws {
        let source = try await Studio.shared.music(as: "padded.m4a", ["-movie_timescale", "44100"])
        #expect(try await convert(source, Rendition(format: "wav")).result.samples == 132_300)
    }

    @Test(arguments: ["aac", "alac"])
    func `samples that an edit list in milliseconds rounds away are kept`(_ encoder: String) async throws {
        let source = try await Studio.shared.music(
            as: "rounded-\(encoder).mp4", ["-af", "atrim=end_sample=44154", "-c:a", encoder])
        #expect(try await convert(source, Rendition(format: "wav")).result.samples == 44_154)
    }

    @Test(arguments: [("mp3", 44_100), ("mp3", 48_000), ("ogg", 44_100), ("opus", 48_000)])
    func `a lossy file decodes to exactly the range`(_ format: String, _ rate: Int) async throws {
        let converted = try await convert(
            Studio.shared.music(), Rendition(format: format, sampleRate: rate), start: MediaTime(parsing: "1")!,
            end: MediaTime(sample: 107_256, rate: 44_100))
        let length = (63_156 * rate + 44_099) / 44_100
        #expect(converted.result.samples == Int64(length))
        #expect(try await decode(converted.path, as: Int16.self, "s16le").count == length * 2)
    }

    @Test(arguments: [48, 500, 1152, 2000])
    func `an MP3 may have a few frames`(count: Int) async throws {
        let converted = try await convert(
            Studio.shared.music(), Rendition(format: "mp3", bitRate: 64_000, channels: 1),
            end: MediaTime(sample: Int64(count), rate: 44_100))
        #expect(try await decode(converted.path, as: Int16.self, "s16le").count == count)
    }

    @Test func `a range that goes on behind the source ends with it, with a warning`() async throws {
        let converted = try await convert(
            Studio.shared.music(), Rendition(format: "flac"), start: MediaTime(parsing: "2")!,
            end: MediaTime(parsing: "1:00")!)
        #expect(converted.result.samples == 44_100)
        #expect(
            converted.result.warnings.contains { $0.message.contains("60 s") && $0.message.contains("source at 3 s") })
    }

    @Test func `a range after the end, and one without a sample, is refused`() async throws {
        for name in ["music.wav", "late.mp3"] {
            let source = try await Studio.shared.music(as: name)
            let late = await failure(source, start: MediaTime(parsing: "10")!, end: MediaTime(parsing: "12")!)
            guard case .invalidTimeRange = late?.reason else {
                Issue.record("\(name): \(String(describing: late))"); continue
            }
            #expect(late?.sentence.contains("10 s") == true && late?.sentence.contains("source at 3") == true)
        }
        let empty = await failure(
            try await Studio.shared.music(), start: MediaTime(parsing: "1.000001")!,
            end: MediaTime(parsing: "1.000002")!)
        guard case .invalidTimeRange = empty?.reason else { Issue.record("\(String(describing: empty))"); return }
    }

    @Test func `a resampled length is exactly the ratio, rounded up`() async throws {
        let end = MediaTime(sample: 100_001, rate: 44_100)
        let lengths = [(48_000, 108_845), (22_050, 50_001), (96_000, 217_690), (8000, 18_141)]
        var paths: [String] = []
        for (rate, count) in lengths {
            let converted = try await convert(
                Studio.shared.music(), Rendition(format: "wav", sampleRate: rate), end: end)
            #expect(converted.result.samples == Int64(count))
            paths.append(converted.path)
        }
        for (samples, (_, count)) in zip(try await decode(paths, as: Int16.self, "s16le"), lengths) {
            #expect(samples.count == count * 2)
        }
    }
}
