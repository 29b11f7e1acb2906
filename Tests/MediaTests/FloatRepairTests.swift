import Encoding
import FoundationEssentials
import Glibc
import MediaTypes
import TestSupport
import Testing

/// Floats that are no sound: what is no number, and what no recording reaches.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct FloatRepairTests {
    private static let wrong: [(place: Int, value: Double)] =
        (10_000..<10_010).map { ($0, .nan) } + [
            (20_000, .infinity), (20_001, -.infinity), (30_000, 1e30), (30_001, -1e6),
        ]

    /// A second of a tone, with such samples in it.
    private func samples<Number: BinaryFloatingPoint>(_ type: Number.Type) -> [Number] {
        var samples = (0..<44_100).map { Number(tone($0)) }
        for (place, value) in Self.wrong { samples[place] = Number(value) }
        return samples
    }

    private func tone(_ place: Int) -> Double { 0.25 * sin(2 * .pi * Double(place) * 440 / 44_100) }

    @Test(arguments: [false, true])
    func `invalid floating-point samples become valid integers`(_ isDouble: Bool) async throws {
        let source = isDouble ? try await wave(samples(Double.self), "f64le") : try await wave(samples(Float.self))
        let made = try await convert(source, Rendition(format: "flac"))
        #expect(made.result.warnings.map(\.code).contains("samples_sanitized"))
        let result = try await decode(made.path, as: Int32.self, "s32le").map { Double($0) / 0x1p31 }
        try #require(result.count == 44_100)
        for (place, sample) in result.enumerated() {
            #expect(abs(sample - mended(place)) < 0x1p-22, "at sample \(place)")
        }
    }

    /// The sample there, as an integer can have it.
    private func mended(_ place: Int) -> Double {
        guard let wrong = Self.wrong.first(where: { $0.place == place })?.value else { return tone(place) }
        return wrong.isFinite ? max(-1, min(1, wrong)) : 0
    }

    @Test(arguments: ["mp3", "m4a", "ogg", "opus", "ac3"])
    func `invalid floating-point samples do not reach an encoder`(_ format: String) async throws {
        let made = try await convert(wave(samples(Float.self)), Rendition(format: format))
        #expect(
            made.result.warnings.filter { $0.code == "samples_sanitized" }.map(\.message).first?.hasPrefix("14 ")
                == true)
        let result = try await decode(made.path, as: Float.self, "f32le")
        #expect(result.allSatisfy { $0.isFinite })
        // The mean square of a tone, far from what was mended; LAME makes all of it 5 % lower.
        let rate = format == "opus" ? 48_000 : 44_100
        let part = result[(rate / 20)..<(rate / 6)].map { Double($0) }
        let squares = part.reduce(0) { $0 + $1 * $1 }
        #expect(abs(squares / Double(part.count) - 0.03125) < 0.004)
    }

    @Test func `floats are kept as they are in a format that stores floats`() async throws {
        let made = try await convert(wave(samples(Float.self)), Rendition(format: "wav"))
        #expect(made.result.warnings.isEmpty)
        let result = try await decode(made.path, as: UInt32.self, "f32le")
        #expect(result == samples(Float.self).map(\.bitPattern))
    }

    @Test func `the loudness of the remaining samples is measured`() async throws {
        var samples = (0..<88_200).map { Float(tone($0)) }
        let clean = try await convert(wave(samples), sound("wav", .s16) { $0.loudness = -16 })
        samples[20_000] = .nan
        let mended = try await convert(wave(samples), sound("wav", .s16) { $0.loudness = -16 })
        let right = try #require(clean.result.loudness?.before.integrated)
        // A tone of 440 Hz at −15.05 dB of full scale, which the filter of ITU-R BS.1770 leaves nearly as loud.
        #expect(abs(right + 15.7) < 0.5)
        #expect(abs(try #require(mended.result.loudness?.before.integrated) - right) < 0.1)
    }

    @Test(arguments: ["mp3", "m4a"]) func `samples that a gain lifts too far are bounded`(_ format: String) async throws
    {
        var generator = Noise(state: 1)
        let noise = (0..<44_100).map { _ in Float.random(in: -1e6...1e6, using: &generator) }
        let made = try await convert(
            wave(noise),
            sound(format, nil) {
                $0.gain = 60
                $0.isUnlimited = true
            })
        #expect(made.result.warnings.contains { $0.code == "clipped" })
        #expect(try await decode(made.path, as: Float.self, "f32le").allSatisfy { $0.isFinite })
    }
}
