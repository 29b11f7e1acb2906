import Glibc

/// Finds how high a signal goes between its samples, by interpolation at four times its rate as in ITU-R BS.1770-4.
///
/// The interpolator has 32 taps a phase, where the recommendation has 12, so that high frequencies are read right as well.
struct TruePeakDetector {
    /// Samples by which a peak is known later than its sample.
    static let latency = taps / 2
    private static let taps = 32
    private static let phases = Self.coefficients()
    /// No interpolated point is farther from zero than this many times the highest sample near it.
    private static let gain = phases.map { $0.reduce(0) { $0 + abs($1) } }.max()!

    /// The last samples of each channel, and room for the next.
    private var samples: [[Float]]
    private var points: [Float] = []
    /// The highest point between the last sample and the one that comes next.
    private var between: Float = 0
    /// Samples worked on at a time: those far below the ceiling are passed over by the block.
    private static let block = 64

    init(channels: Int) {
        samples = Array(repeating: Array(repeating: 0, count: Self.taps), count: channels)
    }

    /// Answers the highest peak, and for each sample the highest over all channels on both its sides.
    ///
    /// Peaks belong to the samples `latency` before the ones given, and are exact where they exceed the limit.
    mutating func peaks(
        of planes: [UnsafeMutableBufferPointer<Float>], above limit: Float, into peaks: inout [Float]
    ) -> Float {
        let count = planes[0].count
        if points.count < count { points = Array(repeating: 0, count: count) }
        for index in 0..<count { peaks[index] = 0 }
        for index in 0..<count { points[index] = 0 }
        for channel in planes.indices {
            samples[channel].append(contentsOf: planes[channel])
            scan(samples[channel], count, limit, &peaks)
            samples[channel].removeFirst(count)
        }
        var highest: Float = 0
        for index in 0..<count {
            let next = points[index]
            let peak = max(peaks[index], max(between, next))
            between = next
            peaks[index] = peak
            highest = max(highest, peak)
        }
        return highest
    }

    private mutating func scan(_ samples: [Float], _ count: Int, _ limit: Float, _ peaks: inout [Float]) {
        samples.withUnsafeBufferPointer { samples in
            peaks.withUnsafeMutableBufferPointer { peaks in
                points.withUnsafeMutableBufferPointer { points in
                    for start in stride(from: 0, to: count, by: Self.block) {
                        let size = min(Self.block, count - start)
                        let near = samples.baseAddress! + start + 1
                        Self.raise(peaks.baseAddress! + start, near + (Self.latency - 1), size)
                        var highest: Float = 0
                        for index in 0..<size + Self.taps - 1 { highest = max(highest, abs(near[index])) }
                        guard highest * Self.gain > limit else { continue }
                        Self.interpolate(near, size, into: points.baseAddress! + start)
                    }
                }
            }
        }
    }

    /// Raises peaks to the points between samples; sums run along time, which vector units like.
    private static func interpolate(_ near: UnsafePointer<Float>, _ size: Int, into peaks: UnsafeMutablePointer<Float>)
    {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: block) { room in
            let sums = room.baseAddress!
            for phase in phases {
                sums.initialize(repeating: 0, count: size)
                for tap in 0..<taps {
                    let (factor, source) = (phase[tap], near + tap)
                    for index in 0..<size { sums[index] += factor * source[index] }
                }
                raise(peaks, sums, size)
            }
        }
    }

    private static func raise(_ peaks: UnsafeMutablePointer<Float>, _ samples: UnsafePointer<Float>, _ size: Int) {
        for index in 0..<size {
            let height = abs(samples[index])
            if height > peaks[index] { peaks[index] = height }
        }
    }

    /// A Kaiser-windowed sinc for each quarter between two samples.
    private static func coefficients() -> [[Float]] {
        [0.25, 0.5, 0.75].map { offset in
            let exact = (0..<taps).map { tap in
                let distance = Double(tap - (taps / 2 - 1)) - offset
                let edge = distance / Double(taps / 2)
                return sin(.pi * distance) / (.pi * distance) * bessel(9 * sqrt(max(1 - edge * edge, 0))) / bessel(9)
            }
            let sum = exact.reduce(0, +)
            return exact.map { Float($0 / sum) }
        }
    }

    /// The modified Bessel function of the first kind and order zero.
    private static func bessel(_ x: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for index in 1..<40 {
            term *= (x / 2 / Double(index)) * (x / 2 / Double(index))
            sum += term
        }
        return sum
    }
}
