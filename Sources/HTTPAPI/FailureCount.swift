import HTTPServer
import Synchronization

/// Counts wrong tokens by address, to refuse a client that guesses.
final class FailureCount: Sendable {
    private let counts = Mutex<[ClientAddress: Count]>([:])

    private struct Count {
        var number: Int
        var last: ContinuousClock.Instant
    }

    /// Wrong tokens of an address, none of them a minute after the one before, that are answered like any wrong token.
    static let allowed = 10
    private static let maxAddresses = 4096

    /// Counts a wrong token, and returns whether there were too many.
    func add(_ address: ClientAddress, at now: ContinuousClock.Instant = .now) -> Bool {
        counts.withLock { counts in
            if counts.count >= Self.maxAddresses {
                counts = counts.filter { now - $0.value.last < .seconds(60) }
                if counts.count >= Self.maxAddresses { counts = [:] }
            }
            var count = counts[address] ?? Count(number: 0, last: now)
            if now - count.last > .seconds(60) { count.number = 0 }
            count.number += 1
            count.last = now
            counts[address] = count
            return count.number > Self.allowed
        }
    }
}
