/// A rate limit that allows bursts: a capacity of tokens, refilled at a rate per second.
package struct TokenBucket: Sendable {
    private let capacity: Double
    private let rate: Double
    private var tokens: Double
    private var last: ContinuousClock.Instant

    /// Begins full, so that the first burst may take the whole capacity.
    package init(capacity: Int, perSecond rate: Int, at now: ContinuousClock.Instant = .now) {
        self.capacity = Double(capacity)
        self.rate = Double(rate)
        tokens = self.capacity
        last = now
    }

    /// Takes the tokens if all of them are available; returns whether it did.
    package mutating func take(_ count: Int, at now: ContinuousClock.Instant = .now) -> Bool {
        tokens = min(capacity, tokens + rate * (now - last).seconds)
        last = now
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }
}
