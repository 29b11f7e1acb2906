/// The instant at which a call gives up.
package struct Deadline: Sendable {
    let instant: ContinuousClock.Instant

    /// What the deadline was made of, for messages.
    let term: Duration

    package init(after term: Duration) {
        instant = .now + term
        self.term = term
    }

    var remaining: Duration { ContinuousClock.now.duration(to: instant) }

    var hasPassed: Bool { remaining <= .zero }
}
