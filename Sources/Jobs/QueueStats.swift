/// A queue at a glance.
package struct QueueStats: Sendable, Hashable {
    /// Every state is there.
    package let counts: [JobState: Int]
    package let isPaused: Bool
    /// Milliseconds since the oldest job that can run now became ready.
    package let oldestWaiting: Int64?
    package let lastMinute: JobCounts
    package let lastHour: JobCounts
    package let lastDay: JobCounts
    /// Workers that gave a sign of life within the lease.
    package let workers: Int
    /// Slots of those workers.
    package let slots: Int

    package subscript(state: JobState) -> Int { counts[state] ?? 0 }
}
