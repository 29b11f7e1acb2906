/// When all calls that the current task makes have ended, whatever their own timeouts are.
package enum CallLimit {
    /// `nil` if there is no common limit.
    @TaskLocal package static var end: ContinuousClock.Instant?
}

/// The instant at which a call times out.
package struct Deadline: Sendable {
    let instant: ContinuousClock.Instant

    /// The complete timeout, for messages; a share of a deadline has that of the whole.
    let term: Duration

    /// Creates a deadline that long after now.
    package init(after term: Duration) {
        instant = min(.now + term, CallLimit.end ?? .now + term)
        self.term = term
    }

    private init(share: Duration, of term: Duration) {
        instant = .now + share
        self.term = term
    }

    var remaining: Duration { ContinuousClock.now.duration(to: instant) }

    var hasPassed: Bool { remaining <= .zero }

    /// Makes attempts one after the other until one succeeds, each with an equal share of the remaining time; throws
    /// the last error.
    func first<Item, Answer: ~Copyable>(
        of items: [Item], _ attempt: (Item, Deadline) throws(RedisError) -> Answer
    ) throws(RedisError) -> Answer {
        var last = RedisError.connection("there is no address to connect to")
        for (index, item) in items.enumerated() {
            let share = Deadline(share: max(remaining, .zero) / (items.count - index), of: term)
            do throws(RedisError) { return try attempt(item, share) } catch { last = error }
            if last == .closed || hasPassed { break }
        }
        throw last
    }
}
