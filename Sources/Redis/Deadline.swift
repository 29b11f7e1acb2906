/// The instant at which a call gives up.
package struct Deadline: Sendable {
    let instant: ContinuousClock.Instant

    /// The limit that the deadline was made of, for messages; a share of it names the whole.
    let term: Duration

    package init(after term: Duration) {
        instant = .now + term
        self.term = term
    }

    private init(share: Duration, of term: Duration) {
        instant = .now + share
        self.term = term
    }

    var remaining: Duration { ContinuousClock.now.duration(to: instant) }

    var hasPassed: Bool { remaining <= .zero }

    /// Attempts one after the other until one succeeds, each for its share of the time that is left; throws the last error.
    func first<Item, Answer: ~Copyable>(
        of items: [Item], _ attempt: (Item, Deadline) throws(RedisError) -> Answer
    ) throws(RedisError) -> Answer {
        var last = RedisError.connection("there is nothing to connect to")
        for (index, item) in items.enumerated() {
            let share = Deadline(share: max(remaining, .zero) / (items.count - index), of: term)
            do throws(RedisError) { return try attempt(item, share) } catch { last = error }
            if last == .closed || hasPassed { break }
        }
        throw last
    }
}
