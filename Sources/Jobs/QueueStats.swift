/// The statistics of a queue.
package struct QueueStats: Sendable, Hashable {
    /// Contains every state.
    package let counts: [JobState: Int]
    package let isPaused: Bool
    /// Milliseconds since the oldest job that can run now became ready.
    package let oldestWaiting: Int64?
    package let lastMinute: JobCounts
    package let lastHour: JobCounts
    package let lastDay: JobCounts
    /// Workers that sent a beat within the duration of a lease.
    package let workers: Int
    /// The total number of slots of those workers.
    package let slots: Int

    package subscript(state: JobState) -> Int { counts[state] ?? 0 }
}
