import Libav
package import MediaTypes

/// Converts processed samples to progress reports, at most ten a second. The fraction never decreases, and is less than 1
/// before the end.
package struct ProgressMeter {
    private let clock = ContinuousClock()
    private let started: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private let rate: Double
    private let phase: Phase
    /// The start of the range in seconds.
    private let start: Double
    /// The duration of the range in seconds, if known.
    private let duration: Double?
    /// Whether the source declares its duration. If not, it may end before the range does.
    private let isKnown: Bool
    private var pace = SpeedMeter()
    /// The largest fraction so far.
    private var reached = 0.0

    /// The maximum fraction before the end, and the maximum if the duration is an estimate.
    package static let maxFraction = 0.999
    private static let maxOfEstimate = 0.99

    /// Starts with a reader at the start of its range. `samples` is the number of samples that are copied, if none are decoded.
    package init(_ reader: borrowing AssetReader, phase: Phase = .converting, copying samples: Int64? = nil) {
        self.phase = phase
        started = clock.now
        last = started
        let rate = Double(reader.shape.rate)
        self.rate = rate
        start = reader.startSeconds
        let copied = samples.map { Double($0) / rate }
        isKnown = copied != nil || reader.sourceSeconds != nil
        duration = copied != nil ? reader.rangeSeconds(within: copied) : reader.expectedSeconds
        pace.note(started, position: 0, fraction: 0)
    }

    /// A report, if the last one was at least 100 ms ago; otherwise `nil`. `copied` are the samples copied so far, `scanned`
    /// the samples counted from the source's start.
    package mutating func report(
        _ reader: borrowing AssetReader, copied: Int64? = nil, scanned: (samples: Int64, byteFraction: Double)? = nil
    ) -> Progress? {
        let now = clock.now
        guard now - last >= .milliseconds(100) else { return nil }
        last = now
        let position = max(Double(copied ?? (scanned?.samples ?? reader.position) - reader.first) / rate, 0)
        // A header that declares less than there is is ignored.
        let length = duration.flatMap { position <= $0 + 0.1 ? $0 : nil }
        // A scan begins at the source's start.
        let passed = scanned == nil ? 0 : start
        let done = scanned.map { Double($0.samples) / rate } ?? position
        let fraction =
            length.map { $0 > 0 ? done / (passed + $0) : 1 } ?? scanned?.byteFraction ?? reader.byteFraction
        let isEstimate = !isKnown || length == nil
        reached = max(reached, min(fraction, isEstimate ? Self.maxOfEstimate : Self.maxFraction))
        pace.note(now, position: position, fraction: reached)
        return Progress(
            phase: phase, position: position, duration: length, fraction: reached, speed: pace.speed,
            estimated: isEstimate, eta: pace.eta)
    }

    /// The final report of a conversion.
    package func done(samples: Int64) -> Progress {
        let seconds = Double(samples) / rate
        return Progress(
            phase: .converting, position: seconds, duration: seconds, fraction: 1,
            speed: seconds / max((clock.now - started) / .seconds(1), 0.000_001), eta: 0)
    }
}
