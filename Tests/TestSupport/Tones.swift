import Glibc

/// A tone for each channel, at 48 kHz.
package struct Tones {
    /// Hz, multiples of ten.
    private let frequencies: [Int]

    /// Tones for a number of channels. The one for low frequencies has a low tone.
    package init(_ count: Int, lowAt low: Int? = nil) {
        frequencies = (0..<count).map { $0 == low ? 60 : 200 + 150 * $0 }
    }

    /// The tones of a layout that ffmpeg names.
    package init(layout: String) {
        let counts = ["mono": 1, "stereo": 2, "quad": 4]
        let parts = layout.prefix { $0 != "(" }.split(separator: ".").compactMap { Int($0) }
        let hasLow = parts.count == 2 && parts[1] == 1
        self.init(counts[layout] ?? parts.reduce(0, +), lowAt: hasLow ? min(parts[0], 3) : nil)
    }

    /// The number of channels.
    package var count: Int { frequencies.count }

    /// The expressions for `aevalsrc`.
    package var expressions: String { frequencies.map { "0.1*sin(2*PI*\($0)*t)" }.joined(separator: "|") }

    /// The tone that is loudest in each channel of interleaved samples, by its number. A tenth of a second behind the first two
    /// is examined, in which each tone has whole periods.
    package func order(_ samples: [Int16]) -> [Int] {
        guard samples.count >= 14_400 * count else { return [] }
        return (0..<count).map { channel in
            let levels = frequencies.map { level(of: $0, in: samples, channel) }
            return levels.firstIndex(of: levels.max()!)!
        }
    }

    /// The level of a frequency in a channel (Goertzel's algorithm).
    private func level(of frequency: Int, in samples: [Int16], _ channel: Int) -> Double {
        let factor = 2 * cos(2 * Double.pi * Double(frequency) / 48_000)
        var (last, other) = (0.0, 0.0)
        samples.withUnsafeBufferPointer { samples in
            var place = 9600 * count + channel
            while place < 14_400 * count {
                (last, other) = (Double(samples[place]) + factor * last - other, last)
                place += count
            }
        }
        return last * last + other * other - factor * last * other
    }
}
