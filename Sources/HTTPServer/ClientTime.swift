/// The time that a client takes, without the time that the server takes meanwhile.
struct ClientTime {
    /// When it began, moved by the time that the server took.
    private(set) var start = ContinuousClock.now
    /// Since when the client waits for the server.
    private var paused: ContinuousClock.Instant?

    var isPaused: Bool { paused != nil }

    var elapsed: Duration { start.duration(to: paused ?? .now) }

    mutating func pause() { paused = paused ?? .now }

    mutating func resume() {
        guard let since = paused else { return }
        start += since.duration(to: .now)
        paused = nil
    }
}
