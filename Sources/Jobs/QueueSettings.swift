package import Lifecycle

/// The operator's settings of a queue.
///
/// Every `claim` and `beat` writes the worker's settings to the queue's `meta`, and all other scripts read them there.
/// So commands and dashboards need no settings, and the worker that wrote last determines them.
package struct QueueSettings: Sendable, Hashable {
    /// The duration of a lease: how long a worker keeps a running job without a beat.
    package var lease: Duration = .seconds(10)
    /// Lost leases and dead child processes after which a job fails.
    package var maxCrashes = 3
    /// Completed jobs that are kept.
    package var done = Retention(count: 10_000, age: .seconds(7 * 86_400))
    /// Failed jobs that are kept.
    package var failed = Retention(count: 10_000, age: .seconds(30 * 86_400))
    /// Cancelled jobs that are kept.
    package var cancelled = Retention(count: 1_000, age: .seconds(7 * 86_400))
    /// Finished callbacks, whose logs are kept.
    package var called = Retention(count: 1_000, age: .seconds(7 * 86_400))
    /// The approximate number of entries in the stream of events.
    package var events = 10_000
    /// The delay between attempts.
    package var backoff = Backoff(base: .seconds(2), cap: .seconds(600))
    /// The maximum delay that a source's server may request.
    package var longestRetryAfter: Duration = .seconds(3600)

    package init() {}

    /// How many jobs of one terminal state, or finished callbacks, are kept, and for how long.
    package struct Retention: Sendable, Hashable {
        /// The maximum number of records.
        package var count: Int
        /// The time after which a record is removed.
        package var age: Duration

        package init(count: Int, age: Duration) {
            self.count = count
            self.age = age
        }
    }
}
