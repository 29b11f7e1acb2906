import MediaTypes

/// Turns samples done into reports, at most ten a second, that never go back and are never whole before the end.
struct ProgressMeter {
    private let clock = ContinuousClock()
    private let started: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private let rate: Double
    private let phase: Phase
    /// Seconds of the range, if known.
    private let duration: Double?
    /// Whether the source tells its length; without it the range may end before.
    private let isKnown: Bool
    private var pace = Pace()
    /// The largest fraction so far.
    private var most = 0.0

    init(_ reader: borrowing AssetReader, phase: Phase = .converting) {
        self.phase = phase
        started = clock.now
        last = started
        let rate = Double(reader.shape.rate)
        self.rate = rate
        let start = Double(reader.first) / rate
        let length = reader.sourceSeconds.map { $0 - start }
        let wanted = reader.end.map { Double($0) / rate - start }
        isKnown = length != nil
        duration = wanted.map { min($0, length ?? $0) } ?? length
        pace.note(started, position: 0, fraction: 0)
    }

    /// A report, if the last one is long enough ago.
    mutating func report(_ reader: borrowing AssetReader) -> Progress? {
        let now = clock.now
        guard now - last >= .milliseconds(100) else { return nil }
        last = now
        let position = max(Double(reader.position - reader.first) / rate, 0)
        // A header that tells of less than there is tells nothing: in chained Ogg it is the last link's.
        let length = duration.flatMap { position <= $0 + 0.1 ? $0 : nil }
        let fraction = length.map { $0 > 0 ? position / $0 : 1 } ?? reader.byteFraction
        let isEstimate = !isKnown || length == nil
        most = max(most, min(fraction, isEstimate ? 0.99 : 0.999))
        pace.note(now, position: position, fraction: most)
        return Progress(
            phase: phase, position: position, duration: length, fraction: most, speed: pace.speed,
            estimated: isEstimate, eta: pace.eta)
    }

    /// A report while outputs are brought to their ends, the source being read.
    mutating func whole(_ reader: borrowing AssetReader) -> Progress {
        last -= .milliseconds(100)
        var progress = report(reader)!
        most = 0.999
        progress.fraction = most
        return progress
    }

    /// The report of a conversion that has all its samples.
    func done(samples: Int64) -> Progress {
        let seconds = Double(samples) / rate
        return Progress(
            phase: .converting, position: seconds, duration: seconds, fraction: 1,
            speed: seconds / max((clock.now - started) / .seconds(1), 0.000_001), eta: 0)
    }
}
