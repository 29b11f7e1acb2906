/// How fast something goes, over the last five seconds.
struct SpeedMeter {
    private var marks: [Mark] = []
    private static let span = Duration.seconds(5)

    private struct Mark {
        let time: ContinuousClock.Instant
        /// Seconds of audio.
        let position: Double
        /// Of one.
        let fraction: Double
    }

    /// Takes note of where it is.
    mutating func note(_ time: ContinuousClock.Instant, position: Double, fraction: Double) {
        marks.append(Mark(time: time, position: position, fraction: fraction))
        // One mark stays from before the span, so that it is covered whole.
        while marks.count > 2, marks[1].time < time - Self.span { marks.removeFirst() }
    }

    /// Seconds of audio a second of time; nothing before there is a stretch to measure.
    var speed: Double? { rate(\.position) }

    /// Seconds of time until all is done; nothing if it does not move.
    var eta: Double? {
        guard let rate = rate(\.fraction), rate > 0, let last = marks.last else { return nil }
        return (1 - last.fraction) / rate
    }

    private func rate(_ value: (Mark) -> Double) -> Double? {
        guard let first = marks.first, let last = marks.last, last.time > first.time else { return nil }
        return (value(last) - value(first)) / ((last.time - first.time) / .seconds(1))
    }
}
