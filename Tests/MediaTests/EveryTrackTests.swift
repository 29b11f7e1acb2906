import Bytes
import Conversion
import Decoding
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Every audio track of a source in one file.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct EveryTrackTests {
    private static let rates = [44_100, 48_000, 48_000]
    private static let channels = [1, 2, 6]
    private static let seconds = [3.0, 4.0, 3.5]

    /// Japanese, mono; English, stereo and the default; German, in 5.1 and titled. Each has tones and a length of its own.
    private static func film() async throws -> String {
        var arguments: [String] = []
        for track in 0..<3 {
            // AAC keeps only the lowest tones of the channel for low-frequency effects.
            let tones = (0..<channels[track]).map { channel in
                "0.3*sin(2*PI*\(channel == 3 ? 60 : 300 * (track + 1) + 70 * channel)*t)"
            }
            let layout = ["mono", "stereo", "5.1"][track]
            let expression = tones.joined(separator: "|")
            arguments += [
                "-f", "lavfi", "-i", "aevalsrc='\(expression)':s=\(rates[track]):d=\(seconds[track]):c=\(layout)",
            ]
        }
        for (track, language) in ["jpn", "eng", "deu"].enumerated() {
            arguments += ["-map", "\(track)", "-metadata:s:a:\(track)", "language=\(language)"]
            arguments += ["-disposition:a:\(track)", track == 1 ? "default" : "0"]
        }
        arguments += ["-metadata:s:a:2", "title=Kommentar", "-metadata", "title=Film", "-c:a", "flac"]
        return try await Studio.shared.source("film.mka", arguments + ["-sample_fmt", "s16"])
    }

    private static func convert(
        _ source: String, _ rendition: Rendition, _ track: TrackChoice = .all, _ range: TimeRange = .whole
    ) async throws -> Converted {
        let path = await Studio.shared.output(AudioFormat.named(rendition.format)!.fileExtension)
        let result = try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            let output = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
            let plan = ConversionPlan(source: SourceSettings(range: range, track: track), renditions: [rendition])
            return try Converter.run(
                source: DescriptorSource(borrowing: input.number),
                stores: OneStore(DescriptorStore(borrowing: output.number)), plan: plan, stop: CancellationFlag(),
                progress: { _ in })[0].get()
        }
        return Converted(result: result, path: path)
    }

    /// The samples of each of three tracks, as ffmpeg decodes them.
    private static func samples(_ path: String) async throws -> [[Int16]] {
        var arguments = ["-i", path]
        var raw: [String] = []
        for track in 0..<3 {
            raw.append(await Studio.shared.output("raw"))
            arguments += ["-map", "0:a:\(track)", "-f", "s16le", raw[track]]
        }
        try await Studio.ffmpeg(arguments)
        return try raw.map { path in
            try fileBytes(path).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        }
    }

    private static func tell(_ path: String, _ entry: String) async throws -> [String] {
        let outcome = try await WarmProgram.ffprobe.run(
            ["-v", "error", "-select_streams", "a", "-show_entries", entry, "-of", "default=nw=1:nk=1", path])
        return outcome.output.split(separator: "\n").map(String.init)
    }

    private static let cut = TimeRange(start: MediaTime(value: 1, timescale: 3), end: MediaTime(value: 2, timescale: 1))

    @Test(arguments: [("mka", "flac"), ("m4a", "alac"), ("mov", "pcm"), ("mp4", "aac"), ("webm", "opus")])
    func `each track keeps its samples, and a cut is exact in all`(format: String, codec: String) async throws {
        let source = try await Self.film()
        let original = try await Self.samples(source)
        for range in [TimeRange.whole, Self.cut] {
            let made = try await Self.convert(source, Rendition(format: format, codec: codec), .all, range)
            let found = try await Self.samples(made.path)
            for track in 0..<3 {
                var expected = original[track]
                let (rate, count) = (Self.rates[track], Self.channels[track])
                if range == Self.cut { expected = Array(expected[rate / 3 * count..<2 * rate * count]) }
                switch codec {
                case "opus":
                    // Its decoder gives 48 kHz.
                    let length = (expected.count / count * 48_000 + rate - 1) / rate
                    #expect(found[track].count / count == length, "track \(track + 1)")
                    if rate == 48_000 { #expect(Samples.likeness(found[track], expected) > 0.98, "track \(track + 1)") }
                case "aac":
                    // ffmpeg leaves padding that the edit list takes away.
                    let back = try await Self.convert(made.path, Rendition(format: "wav"), .number(track + 1))
                    #expect(back.result.samples == Int64(expected.count / count), "track \(track + 1)")
                    #expect(Samples.likeness(found[track], expected) > 0.98, "track \(track + 1)")
                default: #expect(found[track] == expected, "track \(track + 1)")
                }
            }
            #expect(made.result.settings["tracks"] == Setting(requested: "all", effective: "3"))
            if range == .whole { #expect(made.result.samples == 4 * 48_000 && made.result.channels == 2) }
            #expect(
                try await Self.tell(made.path, "stream_tags=language") == [
                    "jpn", "eng", format == "mov" ? "ger" : "deu",
                ])
            #expect(try await Self.tell(made.path, "stream=channels") == ["1", "2", "6"])
            #expect(try await Self.tell(made.path, "stream_disposition=default") == ["0", "1", "0"])
            #expect(try await Self.tell(made.path, "format_tags=title") == ["Film"])
            if format == "mka" { #expect(try await Self.tell(made.path, "stream_tags=title").contains("Kommentar")) }
        }
    }

    @Test func `the error about a range beyond a track's end names the track`() async throws {
        let source = try await Self.film()
        let late = TimeRange(start: MediaTime(value: 16, timescale: 5), end: nil)
        let error = await #expect(throws: MediaError.self) {
            try await Self.convert(source, Rendition(format: "mka"), .all, late)
        }
        #expect(error?.sentence.hasPrefix("track 1: the range starts at 3.2 s") == true)
        let long = TimeRange(start: .zero, end: MediaTime(value: 15, timescale: 4))
        let made = try await Self.convert(source, Rendition(format: "mka"), .all, long)
        let cut = made.result.warnings.filter { $0.code == "range_cut" }
        #expect(cut.map { $0.message.prefix(8) } == ["track 1:", "track 3:"])
    }

    @Test func `a format of one track is refused with those of several`() async throws {
        let source = try await Self.film()
        let error = await #expect(throws: MediaError.self) {
            try await Self.convert(source, Rendition(format: "mp3"))
        }
        #expect(error?.sentence.hasSuffix("the formats for several are m4a m4b alac mp4 mov mka webm") == true)
    }

    @Test func `all tracks of a single-track source give the same result as that track alone`() async throws {
        let source = try await Studio.shared.music()
        let all = try await Self.convert(source, Rendition(format: "mka"))
        let best = try await Self.convert(source, Rendition(format: "mka"), .best)
        #expect(all.result == best.result)
        #expect(try await decode(all.path, as: Int16.self, "s16le") == decode(best.path, as: Int16.self, "s16le"))
    }
}
