import Glibc

/// Finds the true peak of a signal by interpolation at four times its rate, as in ITU-R BS.1770-4.
///
/// The interpolator has 32 taps a phase, where the recommendation has 12, so that it is accurate for high frequencies as well.
struct TruePeakDetector {
    /// The delay of a peak after its sample, in samples.
    static let latency = taps / 2
    static let taps = 32
    private static let phases = Self.coefficients()
    /// An upper bound of the ratio between an interpolated point and the largest sample near it.
    static let gain = (0..<3).map { phases[$0 * taps..<($0 + 1) * taps].reduce(0) { $0 + abs($1) } }.max()!

    /// The last samples of each channel, with room for the next ones.
    private var samples: [[Float]]
    private var points: [Float] = []
    /// The highest interpolated point between the last sample and the next one.
    private var between: Float = 0
    /// Samples processed at a time. A block far below the ceiling is skipped.
    static let block = 64

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
            let peak = max(peaks[index], between, next)
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
                        guard Self.highest(near, size + Self.taps - 1) * Self.gain > limit else { continue }
                        Self.interpolate(near, size, points: 3, into: points.baseAddress! + start)
                    }
                }
            }
        }
    }

    /// Raises peaks to the interpolated points between samples: the middle one of three, or all.
    static func interpolate(
        _ near: UnsafePointer<Float>, _ size: Int, points: Int, into peaks: UnsafeMutablePointer<Float>
    ) {
        phases.withUnsafeBufferPointer { phases in
            for phase in 0..<points {
                let factors = phases.baseAddress! + phase * taps
                // Sums of several samples at a time stay in registers.
                var start = 0
                while start + Several.scalarCount <= size {
                    let source = UnsafeRawPointer(near + start)
                    var sums = Several.zero
                    for tap in 0..<taps {
                        sums += factors[tap] * source.loadUnaligned(fromByteOffset: 4 * tap, as: Several.self)
                    }
                    let target = UnsafeMutableRawPointer(peaks + start)
                    target.storeBytes(of: higher(target.loadUnaligned(as: Several.self), sums), as: Several.self)
                    start += Several.scalarCount
                }
                for index in start..<size {
                    let sum = (0..<taps).reduce(Float(0)) { $0 + factors[$1] * near[index + $1] }
                    peaks[index] = max(peaks[index], abs(sum))
                }
            }
        }
    }

    private typealias Several = SIMD16<Float>

    /// The higher of each two magnitudes.
    private static func higher(_ heights: Several, _ samples: Several) -> Several {
        let magnitudes = unsafeBitCast(unsafeBitCast(samples, to: SIMD16<UInt32>.self) & 0x7fff_ffff, to: Several.self)
        return heights.replacing(with: magnitudes, where: magnitudes .> heights)
    }

    /// The magnitude of the highest sample.
    static func highest(_ samples: UnsafePointer<Float>, _ count: Int) -> Float {
        var heights = Several.zero
        var start = 0
        while start + Several.scalarCount <= count {
            heights = higher(heights, UnsafeRawPointer(samples + start).loadUnaligned(as: Several.self))
            start += Several.scalarCount
        }
        var highest = heights.max()
        for index in start..<count { highest = max(highest, abs(samples[index])) }
        return highest
    }

    private static func raise(_ peaks: UnsafeMutablePointer<Float>, _ samples: UnsafePointer<Float>, _ size: Int) {
        for index in 0..<size {
            let height = abs(samples[index])
            if height > peaks[index] { peaks[index] = height }
        }
    }

    /// The coefficients of a Kaiser-windowed sinc in the middle between two samples, and at the other quarters.
    private static func coefficients() -> [Float] {
        [0.5, 0.25, 0.75].flatMap { offset in
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
