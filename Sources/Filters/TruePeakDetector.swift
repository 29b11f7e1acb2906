import Glibc

/// Finds the true peak of a signal by interpolation at four times its rate, as in ITU-R BS.1770-4.
///
/// The interpolator has 32 taps a phase, where the recommendation has 12, so that it is accurate for high frequencies as well.
struct TruePeakDetector {
    /// The delay of a peak after its sample, in samples.
    static let latency = taps / 2
    private static let taps = 32
    private static let phases = Self.coefficients()
    /// An upper bound of the ratio between an interpolated point and the largest sample near it.
    private static let gain = phases.map { $0.reduce(0) { $0 + abs($1) } }.max()!

    /// The last samples of each channel, with room for the next ones.
    private var samples: [[Float]]
    private var points: [Float] = []
    /// The highest interpolated point between the last sample and the next one.
    private var between: Float = 0
    /// Samples processed at a time. A block far below the ceiling is skipped.
    private static let block = 64

    init(channels: Int) {
        samples = Array(repeating: Array(repeating: 0, count: Self.taps), count: channels)
    }

    /// Returns the highest peak, and puts into `peaks` the highest peak around each sample over all channels.
    ///
    /// A peak belongs to the sample `latency` samples before the given one. Peaks are exact where they exceed the limit.
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

    /// Raises peaks to the interpolated points between samples. The inner loop runs along time, so that it can be vectorized.
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

    /// The coefficients of a Kaiser-windowed sinc at each quarter between two samples.
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
