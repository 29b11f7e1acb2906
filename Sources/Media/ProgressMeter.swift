import MediaTypes

/// Turns samples done into reports, at most ten a second.
struct ProgressMeter {
    private let clock = ContinuousClock()
    private let started: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private let rate: Double
    private let phase: Phase
    /// Seconds of the range, if known.
    private let duration: Double?

    init(_ reader: borrowing AssetReader, phase: Phase = .converting) {
        self.phase = phase
        started = clock.now
        last = started
        let rate = Double(reader.shape.rate)
        self.rate = rate
        let start = Double(reader.first) / rate
        let length = reader.sourceSeconds.map { $0 - start }
        let wanted = reader.end.map { Double($0) / rate - start }
        duration = wanted.map { min($0, length ?? $0) } ?? length
    }

    /// A report, if the last one is long enough ago.
    mutating func report(_ reader: borrowing AssetReader) -> Progress? {
        let now = clock.now
        guard now - last >= .milliseconds(100) else { return nil }
        last = now
        let position = max(Double(reader.position - reader.first) / rate, 0)
        let fraction =
            duration.map { $0 > 0 ? min(position / $0, 1) : 1 } ?? min(max(reader.byteFraction, 0), 0.99)
        return Progress(
            phase: phase, position: position, duration: duration, fraction: fraction,
            speed: position / ((now - started) / .seconds(1)))
    }

    /// The report of a conversion that has all its samples.
    func done(samples: Int64) -> Progress {
        let seconds = Double(samples) / rate
        return Progress(
            phase: .converting, position: seconds, duration: seconds, fraction: 1,
            speed: seconds / max((clock.now - started) / .seconds(1), 0.000_001))
    }
}
