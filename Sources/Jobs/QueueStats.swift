/// The statistics of a queue.
package struct QueueStats: Sendable, Hashable {
    /// Contains every state.
    package let counts: [JobState: Int]
    /// Whether the queue is paused.
    package let isPaused: Bool
    /// Milliseconds since the oldest job that can run now became ready.
    package let oldestWaiting: Int64?
    /// Changes within the last minute.
    package let lastMinute: JobCounts
    /// Changes within the last hour.
    package let lastHour: JobCounts
    /// Changes within the last day.
    package let lastDay: JobCounts
    /// Workers that sent a beat within the duration of a lease.
    package let workers: Int
    /// The total number of slots of those workers.
    package let slots: Int

    /// The number of jobs in a state.
    package subscript(state: JobState) -> Int { counts[state] ?? 0 }

    /// The number of jobs in each state, by its name in JSON.
    package var countsByName: [String: Int] {
        Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, self[$0]) })
    }
}
