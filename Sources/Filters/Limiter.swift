import Glibc

/// Keeps the true peak of samples at or below a ceiling. It applies one gain to all channels, which falls before a peak and
/// rises slowly after it.
///
/// The required gain of each sample comes from the signal at four times its rate. The minimum gain over the next 3 ms, released
/// with a time constant of 150 ms, is averaged twice over half that time, so that the gain reaches the required value exactly
/// at the peak. While no sample reaches the ceiling, samples pass unchanged.
struct Limiter {
    /// How often and how far the limiter lowered the gain.
    private(set) var work = Work()
    /// The output's delay in samples.
    let latency: Int
    private let ceiling: Float
    /// Headroom in dB for peaks between the points at four times the rate.
    private static let margin = 0.1
    private let lookAhead: Int
    private let recovery: Double
    private var detector: TruePeakDetector
    private var minimum: SlidingMinimum
    private var first: MovingAverage
    private var second: MovingAverage
    private var held = 1.0
    /// Samples since the last one that needed a gain below 1.
    private var unityRun: Int
    private var isResting = true
    private var isLowered = false
    private var peaks: [Float] = []
    /// Delayed samples of each channel.
    private var waiting: [[Float]]

    /// Statistics of a limiter.
    struct Work {
        /// How many times the gain was lowered.
        var events = 0
        /// Samples with a lowered gain.
        var samples: Int64 = 0
        /// The minimum gain, linear.
        var leastGain: Float = 1
    }

    /// Makes a limiter for a sample rate in Hz and a ceiling in dBFS.
    init(ceiling: Double, rate: Int, channels: Int) {
        self.ceiling = Float(pow(10, (ceiling - Self.margin) / 20))
        let half = max(rate * 3 / 2000, 2)
        lookAhead = 2 * half
        recovery = 1 - exp(-1 / (0.15 * Double(rate)))
        detector = TruePeakDetector(channels: channels)
        latency = lookAhead + TruePeakDetector.latency
        minimum = SlidingMinimum(window: lookAhead + 1)
        first = MovingAverage(of: half + 1)
        second = MovingAverage(of: half + 1)
        unityRun = 4 * lookAhead
        waiting = Array(repeating: Array(repeating: 0, count: latency), count: channels)
    }

    /// Replaces the samples by the limited ones of `latency` samples earlier.
    mutating func process(_ planes: [UnsafeMutableBufferPointer<Float>]) {
        guard let count = planes.first?.count, count > 0 else { return }
        if peaks.count < count { peaks = Array(repeating: 0, count: count) }
        let highest = detector.peaks(of: planes, above: ceiling, into: &peaks)
        for channel in planes.indices { delay(planes[channel], channel) }
        // No sample within reach needs a lower gain, and the last reduction has been released.
        if highest <= ceiling && unityRun > 2 * lookAhead { return rest() }
        isResting = false
        for index in 0..<count {
            let gain = next(peaks[index])
            for plane in planes { plane[index] *= gain }
        }
    }

    /// The gain of the next delayed sample, computed from the peak `lookAhead` samples later.
    private mutating func next(_ peak: Float) -> Float {
        let least = minimum.next(peak > ceiling ? ceiling / peak : 1)
        var risen = held + (1 - held) * recovery
        if risen > 0.99999 { risen = 1 }
        held = min(Double(least), risen)
        unityRun = held == 1 ? unityRun + 1 : 0
        let gain = Float(second.next(first.next(held)))
        // A reduction of less than 0.01 dB does not count.
        guard gain < 0.99885 else {
            isLowered = false
            return gain
        }
        if !isLowered { work.events += 1 }
        isLowered = true
        work.samples += 1
        work.leastGain = min(work.leastGain, gain)
        return gain
    }

    private mutating func rest() {
        guard !isResting else { return }
        isResting = true
        isLowered = false
        minimum.reset()
        first.reset()
        second.reset()
    }

    private mutating func delay(_ plane: UnsafeMutableBufferPointer<Float>, _ channel: Int) {
        waiting[channel].append(contentsOf: plane)
        waiting[channel].withUnsafeBufferPointer { all in
            _ = plane.update(fromContentsOf: all[0..<plane.count])
        }
        waiting[channel].removeFirst(plane.count)
    }
}

/// A sliding minimum.
private struct SlidingMinimum {
    private let window: Int
    /// A ring of values that are less than all later ones, and their positions.
    private var values: [Float]
    private var places: [Int]
    private var front = 0
    private var count = 0
    private var place = 0

    init(window: Int) {
        self.window = window
        values = Array(repeating: 1, count: window + 1)
        places = Array(repeating: 0, count: window + 1)
    }

    mutating func next(_ value: Float) -> Float {
        while count > 0 {
            let last = (front + count - 1) % values.count
            if values[last] < value { break }
            count -= 1
        }
        let free = (front + count) % values.count
        values[free] = value
        places[free] = place
        count += 1
        if places[front] <= place - window {
            front = (front + 1) % values.count
            count -= 1
        }
        place += 1
        return values[front]
    }

    mutating func reset() { count = 0 }
}

/// A moving average, initially of ones.
private struct MovingAverage {
    private var values: [Double]
    private var sum: Double
    private var place = 0

    init(of count: Int) {
        values = Array(repeating: 1, count: count)
        sum = Double(count)
    }

    mutating func next(_ value: Double) -> Double {
        sum += value - values[place]
        values[place] = value
        place = place + 1 == values.count ? 0 : place + 1
        return sum / Double(values.count)
    }

    mutating func reset() { self = MovingAverage(of: values.count) }
}
