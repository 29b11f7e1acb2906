/// A delay that doubles with each consecutive failure, up to a cap.
package struct Backoff: Hashable, Sendable {
    /// The maximum delay after the first failure.
    package let base: Duration
    /// The maximum delay after any number of failures.
    package let cap: Duration

    package init(base: Duration, cap: Duration) {
        self.base = base
        self.cap = cap
    }

    /// The maximum delay after the n-th consecutive failure (from 1): `min(cap, base · 2^(n−1))`.
    package func ceiling(afterFailure number: Int) -> Duration {
        let doublings = max(0, number - 1)
        guard doublings < 40 else { return cap }
        return min(cap, base * (1 << doublings))
    }

    /// A random delay, uniform from zero to the ceiling, so that many clients do not return at the same time (full
    /// jitter).
    package func delay(afterFailure number: Int) -> Duration {
        .nanoseconds(Int64.random(in: 0...max(1, ceiling(afterFailure: number).nanoseconds)))
    }
}

extension Duration {
    /// The whole duration in nanoseconds.
    package var nanoseconds: Int64 {
        let parts = components
        return parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    }

    /// The whole duration in milliseconds, rounded down.
    package var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// The duration in seconds, for display.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Seconds for display, with one decimal unless they are whole: `20`, `0.5`.
    package var rounded: String {
        let tenths = Int64((seconds * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}
