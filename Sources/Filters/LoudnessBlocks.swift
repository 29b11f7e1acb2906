import Glibc
package import MediaTypes

/// What is measured of consecutive samples, from which EBU R 128 derives their loudness. Those of the parts of a stream are
/// appended to each other.
package struct LoudnessBlocks: Sendable {
    /// The K-weighted mean square of each 100 ms, summed over the channels with their weights.
    var energies: [Double] = []
    /// The same of all samples, if they are too few for a block of 400 ms.
    var whole: Double?
    /// The highest sample, and the highest point of the interpolated signal; linear.
    var (samplePeak, truePeak): (Float, Float) = (0, 0)

    /// Nothing is measured yet.
    package init() {}

    /// Appends what was measured of the samples that follow.
    package mutating func append(_ next: LoudnessBlocks) {
        energies += next.energies
        whole = whole ?? next.whole
        samplePeak = max(samplePeak, next.samplePeak)
        truePeak = max(truePeak, next.truePeak)
    }

    /// The loudness of all samples.
    package func loudness(withMomentary: Bool = false) -> Loudness {
        // A clip shorter than one gating block is measured as one block of the clip's length.
        let blocks = energies.count < 4 ? whole.map { [$0] } ?? [] : means(of: 4, every: 1)
        func finite(_ value: Double) -> Double? { value.isFinite ? value : nil }
        return Loudness(
            integrated: Self.integrated(blocks).flatMap { finite(Self.level($0)) },
            range: Self.range(means(of: 30, every: 10)),
            truePeak: finite(decibels(Double(truePeak))), samplePeak: finite(decibels(Double(samplePeak))),
            momentary: withMomentary ? blocks.max().flatMap { finite(Self.level($0)) } : nil)
    }

    /// The mean of `count` consecutive energies, beginning at multiples of `step`.
    private func means(of count: Int, every step: Int) -> [Double] {
        stride(from: 0, through: energies.count - count, by: step).map { start in
            energies[start..<start + count].reduce(0, +) / Double(count)
        }
    }

    /// ITU-R BS.1770-4: the mean of the blocks of 400 ms that are louder than −70 LUFS and than 10 LU below the mean of those.
    private static func integrated(_ blocks: [Double]) -> Double? {
        let audible = blocks.filter { $0 >= threshold }
        let gate = mean(audible) / 10
        let loud = audible.filter { $0 >= gate }
        return loud.isEmpty ? nil : mean(loud)
    }

    /// EBU Tech 3342, of blocks of 3 s that begin each second: from the level that a tenth of them are below to that which one
    /// in twenty is above. Blocks below −70 LUFS, or 20 LU below the mean of the others, do not count.
    private static func range(_ blocks: [Double]) -> Double {
        let audible = blocks.filter { $0 >= threshold }
        let gate = mean(audible) / 100
        let levels = audible.filter { $0 >= gate }.sorted()
        guard let last = levels.indices.last else { return 0 }
        func level(_ part: Double) -> Double { Self.level(levels[Int(Double(last) * part + 0.5)]) }
        return level(0.95) - level(0.1)
    }

    private static func mean(_ blocks: [Double]) -> Double { blocks.reduce(0, +) / Double(blocks.count) }

    /// −70 LUFS.
    private static let threshold = energy(-70)

    private static func level(_ energy: Double) -> Double { 10 * log10(energy) - 0.691 }

    /// The energy of a level in LUFS.
    static func energy(_ level: Double) -> Double { pow(10, (level + 0.691) / 10) }
}
