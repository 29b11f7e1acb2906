import Encoding
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct SampleDepthTests {
    /// A source whose every sample uses all 24 bits.
    private func fine() async throws -> String {
        try await Studio.shared.source(
            "fine.flac",
            [
                "-f", "lavfi", "-i", "aevalsrc='0.9*sin(2*PI*441*t+t*t)|0.7*sin(2*PI*997*t)':s=48000:d=1",
                "-sample_fmt", "s32",
            ])
    }

    @Test func `a source of 24 bits stays at 24 bits`() async throws {
        let source = try await fine()
        var paths = [source]
        for format in ["flac", "alac", "wav", "aiff", "caf"] {
            let converted = try await convert(source, Rendition(format: format))
            #expect(converted.result.settings["sample_format"]?.effective == "s24")
            #expect(converted.result.warnings.isEmpty)
            paths.append(converted.path)
        }
        let decoded = try await decode(paths, as: Int32.self, "s32le")
        #expect(decoded[0].contains { $0 & 0xFF00 != 0 })
        for samples in decoded.dropFirst() { #expect(samples == decoded[0]) }
    }

    @Test(arguments: [
        ("s32.wav", "pcm_s32le", "s32le"), ("f32.wav", "pcm_f32le", "f32le"), ("f64.wav", "pcm_f64le", "f64le"),
    ])
    func `wider samples are kept if PCM holds them`(_ name: String, _ codec: String, _ raw: String) async throws {
        let source = try await Studio.shared.source(
            name, ["-i", try await fine(), "-af", "volume=0.123", "-c:a", codec])
        var paths = [source]
        for format in ["wav", "aiff", "caf"] { paths.append(try await convert(source, Rendition(format: format)).path) }
        let decoded = try await decode(paths, as: UInt8.self, raw)
        for bytes in decoded.dropFirst() { #expect(bytes == decoded[0]) }
        let rounded = try await convert(source, Rendition(format: "flac"))
        #expect(rounded.result.settings["sample_format"]?.effective == "s24")
        #expect(rounded.result.warnings.contains { $0.message.contains("24 bits") })
    }

    @Test func `lossy and shallow sources become 16 bits`() async throws {
        let mp3 = try await Studio.shared.music(as: "lossy.mp3")
        let narrow = try await Studio.shared.music(as: "narrow.wav", ["-c:a", "pcm_u8"])
        for source in [mp3, narrow] {
            for format in ["wav", "flac", "alac"] {
                let converted = try await convert(source, Rendition(format: format), end: MediaTime(parsing: "1")!)
                #expect(converted.result.settings["sample_format"]?.effective == "s16")
            }
        }
    }

    @Test(arguments: [SampleFormat.s16, .u8])
    func `integers that lose bits are rounded, so that none is lowered on average`(_ narrow: SampleFormat) async throws
    {
        let source = try await fine()
        let made = try await convert(source, Rendition(format: "wav", sampleFormat: narrow))
        let decoded = try await decode([source, made.path], as: Int32.self, "s32le")
        let step = narrow == .u8 ? 16_777_216.0 : 65_536
        let mean = zip(decoded[1], decoded[0]).reduce(0) { $0 + (Double($1.0) - Double($1.1)) / step } / 96_000
        #expect(abs(mean) < 0.02, "\(mean) steps")
    }

    @Test func `samples are dithered if they lose bits, and only then`() async throws {
        // A quarter of a 16-bit step: rounding alone would leave silence.
        let source = try await Studio.shared.source(
            "quarter.wav", ["-f", "lavfi", "-i", "aevalsrc=0.25/32768:s=44100:d=1", "-c:a", "pcm_s24le"])
        let short = try await convert(source, Rendition(format: "wav", sampleFormat: .s16))
        let samples = try await decode(short.path, as: Int16.self, "s16le")
        let mean = samples.reduce(0) { $0 + Double($1) } / Double(samples.count)
        #expect(abs(mean - 0.25) < 0.05)
        #expect(samples.allSatisfy { (-1...2).contains($0) })
        let whole = try await convert(source, Rendition(format: "flac"))
        #expect(Set(try await decode(whole.path, as: Int32.self, "s32le")).count == 1)
    }
}
