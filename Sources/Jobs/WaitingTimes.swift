import Glibc

/// How long jobs had waited when they started, from counts by buckets.
///
/// Bucket 0 is less than 1 ms. Bucket n is from 2^((n-1)/2) ms to less than 2^(n/2) ms, so a figure is exact to a factor of 1.41.
package struct WaitingTimes: Sendable, Hashable, Encodable {
    /// How many attempts started.
    package let count: Int
    /// Seconds that half of them had waited at most.
    package let p50: Double
    /// Seconds that 95 % of them had waited at most.
    package let p95: Double

    /// The number of buckets; the last one begins at 69 years.
    private static let bucketCount = 84

    /// Counts by the names of buckets, `w0` and so on; `nil` if all are 0.
    init?(buckets: [String: Int]) {
        let counts = (0..<Self.bucketCount).map { max(0, buckets["w\($0)"] ?? 0) }
        count = counts.reduce(0, +)
        guard count > 0 else { return nil }
        p50 = Self.quantile(0.5, of: counts)
        p95 = Self.quantile(0.95, of: counts)
    }

    /// The value below which a part of all lies: within its bucket, they are taken as evenly spread over the logarithm.
    private static func quantile(_ part: Double, of counts: [Int]) -> Double {
        let rank = part * Double(counts.reduce(0, +))
        var below = 0.0
        for (bucket, count) in counts.enumerated() where count > 0 {
            let here = Double(count)
            if below + here >= rank {
                guard bucket > 0 else { return 0 }
                let place = Double(bucket - 1) + (rank - below) / here
                let milliseconds = pow(2, place / 2)
                return (milliseconds * 10).rounded() / 10_000
            }
            below += here
        }
        return 0
    }
}
