import Bytes
import Encoding
import Glibc
import MediaTypes
import TestSupport
import Testing

/// Expected values are those of a quantizer with a step of 1: rounding alone has an error variance of 1/12.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct DitherTests {
    private static let count = 300_000

    /// A sine of that amplitude in steps of 16 bits, at 997 Hz.
    private static func tone(_ steps: Double) -> [Double] {
        (0..<count).map { steps * sin(2 * .pi * 997 / 44_100 * Double($0)) }
    }

    private func converted(
        _ samples: [Double], _ dither: DitherMethod?, _ sampleFormat: SampleFormat = .s16, format: String = "wav",
        source: String = "f32le"
    ) async throws -> Converted {
        let path =
            source == "f32le"
            ? try await wave(samples.map { Float($0 / 32_768) })
            : try await wave(samples.map { Int16($0.rounded()) }, source)
        return try await convert(path, sound(format, sampleFormat) { $0.dither = dither })
    }

    /// The samples of a result in steps of 16 bits.
    private func steps(_ path: String) async throws -> [Double] {
        try await decode(path, as: Int16.self, "s16le").map { Double($0) }
    }

    @Test func `a tone below one step survives with dither, and only with dither`() async throws {
        let quiet = Self.tone(0.33)
        let rounded = try await converted(quiet, DitherMethod.none)
        #expect(try await steps(rounded.path).allSatisfy { $0 == 0 })
        #expect(rounded.result.settings["dither"] == Setting(requested: "none", effective: "none"))
        for dither in [nil, .triangular, .shaped] as [DitherMethod?] {
            let made = try await converted(quiet, dither)
            let result = try await steps(made.path)
            #expect(result.count == Self.count)
            let reference = Self.tone(1)
            let amplitude = zip(result, reference).reduce(0) { $0 + $1.0 * $1.1 } * 2 / Double(Self.count)
            #expect(abs(amplitude - 0.33) < 0.02, "\(String(describing: dither)): \(amplitude)")
            #expect(
                made.result.settings["dither"]
                    == Setting(requested: dither?.rawValue, effective: dither?.rawValue ?? "triangular"))
        }
    }

    @Test(arguments: [
        (DitherMethod.none, 1), (.rectangular, 2), (.triangular, 3),
    ])
    func `the variance of the error is that of rounding and of the noise`(_ dither: DitherMethod, _ twelfths: Double)
        async throws
    {
        let loud = Self.tone(9876.5)
        let result = try await steps(converted(loud, dither).path)
        let errors = zip(result, loud).map { $0 - $1 }
        let mean = errors.reduce(0, +) / Double(errors.count)
        let variance = errors.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(errors.count)
        #expect(abs(mean) < 0.01 && abs(variance * 12 / twelfths - 1) < 0.03, "\(variance * 12) twelfths, mean \(mean)")
    }

    @Test func `eight bits of sixteen are dithered, and sixteen of sixteen are not`() async throws {
        let loud = Self.tone(9876.5).map { $0.rounded() }
        let made = try await converted(loud, nil, .u8, source: "s16le")
        #expect(made.result.settings["dither"] == Setting(effective: "triangular"))
        let result = try await steps(made.path)
        let variance = zip(result, loud).reduce(0) { $0 + pow($1.0 - $1.1, 2) } / Double(loud.count) / (256 * 256)
        // Three twelfths, around no offset.
        #expect(abs(variance * 4 - 1) < 0.03, "\(variance * 12) twelfths")
        let same = try await converted(loud, nil, .s16, source: "s16le")
        #expect(same.result.settings["dither"] == nil)
        #expect(try await steps(same.path) == loud)
        let requested = try await converted(loud, .shaped, .s16, source: "s16le")
        #expect(requested.result.settings["dither"] == Setting(requested: "shaped", effective: "none"))
        #expect(try await steps(requested.path) == loud)
    }

    @Test func `shaped dither has less error where hearing is sensitive, and more in total`() async throws {
        let loud = Self.tone(9876.5)
        var total: [Double] = []
        var sensitive: [Double] = []
        for dither in [DitherMethod.triangular, .shaped] {
            let result = try await steps(converted(loud, dither, format: "flac").path)
            let errors = zip(result, loud).map { $0 - $1 }
            total.append(errors.reduce(0) { $0 + $1 * $1 })
            sensitive.append(Self.power(errors, bins: 70...93))
        }
        let gain = 10 * log10(sensitive[0] / sensitive[1])
        #expect(gain > 10 && total[1] > total[0], "\(gain) dB at 3 to 4 kHz, \(total)")
    }

    /// The power in bins of 43 Hz, over blocks of 1024 samples.
    private static func power(_ samples: [Double], bins: ClosedRange<Int>) -> Double {
        var sum = 0.0
        for block in stride(from: 0, to: 100 * 1024, by: 1024) {
            for bin in bins {
                var (real, imaginary) = (0.0, 0.0)
                for index in 0..<1024 {
                    let angle = 2 * .pi * Double(bin * index) / 1024
                    let window = 0.5 - 0.5 * cos(2 * .pi * Double(index) / 1024)
                    real += samples[block + index] * window * cos(angle)
                    imaginary += samples[block + index] * window * sin(angle)
                }
                sum += real * real + imaginary * imaginary
            }
        }
        return sum
    }

    @Test func `a new rate of 24 bits is dithered at 24 bits`() async throws {
        let source = try await Studio.shared.source(
            "fine.wav", ["-f", "lavfi", "-i", "aevalsrc='0.4*sin(2*PI*441*t+t*t)':s=48000:d=2", "-c:a", "pcm_s24le"])
        let made = try await convert(source, Rendition(format: "wav", sampleRate: 44_100))
        #expect(made.result.settings["sample_format"]?.effective == "s24")
        #expect(made.result.settings["dither"] == Setting(effective: "triangular"))
        let exact = try await convert(source, Rendition(format: "wav", sampleRate: 44_100, sampleFormat: .f64))
        let result = try await decode(made.path, as: Int32.self, "s32le").map { Double($0) / 256 }
        let expected = try await decode(exact.path, as: Double.self, "f64le").map { $0 * 8_388_608 }
        let errors = zip(result, expected).map { $0 - $1 }
        let mean = errors.reduce(0, +) / Double(errors.count)
        let variance = errors.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(errors.count)
        #expect(abs(variance * 4 - 1) < 0.15, "\(variance * 12) twelfths")
    }

    @Test func `shaped dither is refused at a rate without a filter`() async throws {
        let source = try await Studio.shared.music(as: "music-96.wav", ["-ar", "96000"])
        let problem = await failure(source, sound("wav", .s16) { $0.dither = .shaped })
        #expect(problem?.sentence.hasPrefix("dither shaped does not support 96000 Hz; it supports 8000") == true)
    }
}
