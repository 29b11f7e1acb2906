import Libav
package import MediaTypes

/// Turns samples done into reports, at most ten a second, that never go back and are never whole before the end.
package struct ProgressMeter {
    private let clock = ContinuousClock()
    private let started: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private let rate: Double
    private let phase: Phase
    /// Seconds before the range.
    private let start: Double
    /// Seconds of the range, if known.
    private let duration: Double?
    /// Whether the source tells its length; without it the range may end before.
    private let isKnown: Bool
    private var pace = SpeedMeter()
    /// The largest fraction so far.
    private var reached = 0.0

    /// What is told at most before the end, and of a guess.
    package static let most = 0.999
    private static let maxOfEstimate = 0.99

    /// Begins with a reader at the start of its range, of which so many samples are copied where none is decoded.
    package init(_ reader: borrowing AssetReader, phase: Phase = .converting, copying samples: Int64? = nil) {
        self.phase = phase
        started = clock.now
        last = started
        let rate = Double(reader.shape.rate)
        self.rate = rate
        let before = Double(reader.first) / rate
        start = before
        let length = samples.map { Double($0) / rate } ?? reader.sourceSeconds.map { $0 - before }
        let wanted = reader.end.map { Double($0) / rate - before }
        isKnown = length != nil
        duration = wanted.map { min($0, length ?? $0) } ?? length
        pace.note(started, position: 0, fraction: 0)
    }

    /// A report, if the last one is long enough ago; where none is decoded, of samples that are copied, or of those from the
    /// source's start that are counted.
    package mutating func report(
        _ reader: borrowing AssetReader, copied: Int64? = nil, scanned: (samples: Int64, byteFraction: Double)? = nil
    ) -> Progress? {
        let now = clock.now
        guard now - last >= .milliseconds(100) else { return nil }
        last = now
        let position = max(Double(copied ?? (scanned?.samples ?? reader.position) - reader.first) / rate, 0)
        // A header that tells of less than there is tells nothing: in chained Ogg it is the last link's.
        let length = duration.flatMap { position <= $0 + 0.1 ? $0 : nil }
        // What is only counted begins with the source.
        let passed = scanned == nil ? 0 : start
        let done = scanned.map { Double($0.samples) / rate } ?? position
        let fraction =
            length.map { $0 > 0 ? done / (passed + $0) : 1 } ?? scanned?.byteFraction ?? reader.byteFraction
        let isEstimate = !isKnown || length == nil
        reached = max(reached, min(fraction, isEstimate ? Self.maxOfEstimate : Self.most))
        pace.note(now, position: position, fraction: reached)
        return Progress(
            phase: phase, position: position, duration: length, fraction: reached, speed: pace.speed,
            estimated: isEstimate, eta: pace.eta)
    }

    /// The report of a conversion that has all its samples.
    package func done(samples: Int64) -> Progress {
        let seconds = Double(samples) / rate
        return Progress(
            phase: .converting, position: seconds, duration: seconds, fraction: 1,
            speed: seconds / max((clock.now - started) / .seconds(1), 0.000_001), eta: 0)
    }
}
