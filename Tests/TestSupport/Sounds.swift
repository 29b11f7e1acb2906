import FoundationEssentials
import Glibc
import Lifecycle

/// Audio made by the test itself.
package enum Sounds {
    /// A WAV file of 16-bit mono at 44,100 Hz with the ramp of the given number of samples.
    package static func ramp(samples: Int) -> [UInt8] {
        var file = header(bytes: samples * 2)
        file.reserveCapacity(file.count + samples * 2)
        ramp(0..<samples).withUnsafeBytes { file.append(contentsOf: $0) }
        return file
    }

    /// Writes a WAV file of almost seven hours of silence, which takes no space: a conversion of it outlasts any test.
    package static func writeSilence(to path: String) throws {
        try Data(header(bytes: (1 << 31) - 44)).write(to: URL(filePath: path))
        guard truncate(path, 1 << 31) == 0 else { throw Errno.last }
    }

    /// Samples that tell their places: sample n is n mod 65,536 − 32,768, on the right its complement.
    package static func ramp(_ places: Range<Int>, channels: Int = 1) -> [Int16] {
        var samples: [Int16] = []
        samples.reserveCapacity(places.count * channels)
        for place in places {
            let left = Int16(truncatingIfNeeded: place - 32_768)
            samples.append(left)
            if channels == 2 { samples.append(~left) }
        }
        return samples
    }

    /// A tone of half the full level at 44,100 Hz.
    package static func tone(_ frequency: Double, samples: Int) -> [Float] {
        (0..<samples).map { Float(0.5 * sin(2 * .pi * frequency / 44_100 * Double($0))) }
    }

    /// A rising chord of four tones at 44,100 Hz.
    package static func chord(samples: Int) -> [Int16] {
        (0..<samples).map { place in
            let time = Double(place) / 44_100
            let tones = [220.0, 277, 330, 1760]
            return Int16(6000 * tones.reduce(0) { $0 + sin(2 * .pi * $1 * time * (1 + time / 40)) })
        }
    }

    /// Noise at 44,100 Hz that becomes louder each 45,000 samples.
    package static func bursts(samples: Int) -> [Float] {
        var noise = Noise(state: 1)
        return (0..<samples).map { ($0 / 15_000 % 3 == 0 ? 0.4 : 0.02) * noise.sample() }
    }

    /// A square wave.
    package static func square(period: Int, samples: Int) -> [Float] {
        (0..<samples).map { $0 % period < period / 2 ? 0.7 : -0.7 }
    }

    /// A chord with high partials at 44,100 Hz, faded in, and the same in each second but for noise, which keeps packets from being
    /// equal by chance.
    package static func partials(samples: Int) -> [Float] {
        let second = (0..<44_100).map { place in
            let partials: [Double] = [220, 330, 1990, 4730, 7910, 11_030, 14_170]
            return Float(partials.reduce(0) { $0 + 30 / $1 * sin(2 * .pi * $1 * Double(place) / 44_100) })
        }
        var noise = Noise(state: 2)
        return (0..<samples).map { second[$0 % 44_100] * min(Float($0) / 44_100, 1) + 0.0003 * noise.sample() }
    }

    /// Two tones and an offset at 8 kHz. Their level changes each second.
    package static func steps(samples: Int, channel: Int) -> [Float] {
        (0..<samples).map { place in
            let level = Float([3, 40, 12, 90, 1, 25, 60][place / 8000 % 7]) / 100
            let angle = Float(place % 8000) * Float(300 + 170 * channel) * 2 * .pi / 8000
            return level * (sinf(angle) + sinf(3.7 * angle + 0.5) / 3) + 0.05
        }
    }

    private static func header(bytes: Int) -> [UInt8] {
        Array("RIFF".utf8) + littleEndian(UInt32(36 + bytes)) + Array("WAVEfmt ".utf8) + littleEndian(UInt32(16))
            + littleEndian(UInt16(1)) + littleEndian(UInt16(1)) + littleEndian(UInt32(44_100))
            + littleEndian(UInt32(88_200)) + littleEndian(UInt16(2)) + littleEndian(UInt16(16)) + Array("data".utf8)
            + littleEndian(UInt32(bytes))
    }

    private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
