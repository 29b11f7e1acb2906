/// A rate limit that lets bursts through: so much may be taken at once, and so much comes back each second.
package struct TokenBucket: Sendable {
    private let capacity: Double
    private let rate: Double
    private var tokens: Double
    private var last: ContinuousClock.Instant

    package init(capacity: Int, perSecond rate: Int, at now: ContinuousClock.Instant = .now) {
        self.capacity = Double(capacity)
        self.rate = Double(rate)
        tokens = self.capacity
        last = now
    }

    /// Takes the tokens if they are all there.
    package mutating func take(_ count: Int, at now: ContinuousClock.Instant = .now) -> Bool {
        tokens = min(capacity, tokens + rate * (now - last).seconds)
        last = now
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }
}
