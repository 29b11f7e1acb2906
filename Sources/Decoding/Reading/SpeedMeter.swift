/// Measures a speed over the last five seconds.
struct SpeedMeter {
    private var marks: [Mark] = []
    private static let span = Duration.seconds(5)

    private struct Mark {
        let time: ContinuousClock.Instant
        /// Seconds of audio.
        let position: Double
        /// From 0 to 1.
        let fraction: Double
    }

    /// Records the current position.
    mutating func note(_ time: ContinuousClock.Instant, position: Double, fraction: Double) {
        marks.append(Mark(time: time, position: position, fraction: fraction))
        // One mark from before the span is kept, so that the whole span is covered.
        while marks.count > 2, marks[1].time < time - Self.span { marks.removeFirst() }
    }

    /// Seconds of audio per second; `nil` until it can be measured.
    var speed: Double? { rate(\.position) }

    /// The remaining seconds; `nil` if there is no progress.
    var eta: Double? {
        guard let rate = rate(\.fraction), rate > 0, let last = marks.last else { return nil }
        return (1 - last.fraction) / rate
    }

    private func rate(_ value: (Mark) -> Double) -> Double? {
        guard let first = marks.first, let last = marks.last, last.time > first.time else { return nil }
        return (value(last) - value(first)) / ((last.time - first.time) / .seconds(1))
    }
}
