package import Lifecycle

/// What the operator decides about a queue.
///
/// Every `claim` and `beat` writes the worker's settings to the queue's `meta`, and all other scripts read them there; so a
/// command or a dashboard needs none, and the last worker started decides.
package struct QueueSettings: Sendable, Hashable {
    /// How long a running job is its worker's without a beat.
    package var lease: Duration = .seconds(10)
    /// Lost leases and dead children that make a job fail.
    package var maxCrashes = 3
    package var done = Retention(count: 10_000, age: .seconds(7 * 86_400))
    package var failed = Retention(count: 10_000, age: .seconds(30 * 86_400))
    package var cancelled = Retention(count: 1_000, age: .seconds(7 * 86_400))
    /// Callbacks that are over, of which the log is kept.
    package var called = Retention(count: 1_000, age: .seconds(7 * 86_400))
    /// About how many entries the stream of events keeps.
    package var events = 10_000
    /// The wait between attempts.
    package var backoff = Backoff(base: .seconds(2), cap: .seconds(600))
    /// The longest wait that a source's server may ask for.
    package var longestRetryAfter: Duration = .seconds(3600)

    package init() {}

    /// How many jobs of one terminal state, or callbacks that are over, are kept, and for how long.
    package struct Retention: Sendable, Hashable {
        package var count: Int
        package var age: Duration

        package init(count: Int, age: Duration) {
            self.count = count
            self.age = age
        }
    }
}
