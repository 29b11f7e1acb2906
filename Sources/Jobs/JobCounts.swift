/// Counts of a queue's events within a period that ends now.
package struct JobCounts: Sendable, Hashable, Encodable {
    /// Jobs that were admitted.
    package var pushed = 0
    /// Jobs that completed.
    package var completed = 0
    /// Jobs that failed.
    package var failed = 0
    /// Jobs that were cancelled.
    package var cancelled = 0
    /// Failed attempts after which the job is retried.
    package var retries = 0
    /// Lost leases and child processes that died.
    package var crashes = 0

    package init() {}

    /// The counts by their names in the keys of statistics.
    static var names: [String: WritableKeyPath<JobCounts, Int>] {
        [
            "pushed": \.pushed, "completed": \.completed, "failed": \.failed, "cancelled": \.cancelled,
            "retries": \.retries, "crashes": \.crashes,
        ]
    }

    /// The fraction of the finished jobs that failed; `nil` if none finished.
    package var failureRate: Double? {
        completed + failed > 0 ? Double(failed) / Double(completed + failed) : nil
    }

    /// Whether all counts are zero.
    package var isNone: Bool { self == JobCounts() }

    package static func + (left: JobCounts, right: JobCounts) -> JobCounts {
        var sum = left
        sum.pushed += right.pushed
        sum.completed += right.completed
        sum.failed += right.failed
        sum.cancelled += right.cancelled
        sum.retries += right.retries
        sum.crashes += right.crashes
        return sum
    }

    /// What was added since an earlier reading of the same counts. A count that is lower now was lost and began again.
    package func increase(since earlier: JobCounts) -> JobCounts {
        var rest = JobCounts()
        for count in Self.names.values {
            let (now, then) = (self[keyPath: count], earlier[keyPath: count])
            rest[keyPath: count] = now - (now < then ? 0 : then)
        }
        return rest
    }

    init(_ part: ScriptAnswer) throws(QueueError) {
        var parts = try part.parts()
        pushed = try parts.integer()
        completed = try parts.integer()
        failed = try parts.integer()
        cancelled = try parts.integer()
        retries = try parts.integer()
        crashes = try parts.integer()
    }

    private enum CodingKeys: String, CodingKey {
        case pushed, completed, failed, cancelled, retries, crashes
        case failureRate = "failure_rate"
    }

    /// Writes every key; the rate is `null` if no job was finished.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pushed, forKey: .pushed)
        try container.encode(completed, forKey: .completed)
        try container.encode(failed, forKey: .failed)
        try container.encode(cancelled, forKey: .cancelled)
        try container.encode(retries, forKey: .retries)
        try container.encode(crashes, forKey: .crashes)
        try container.encode(failureRate, forKey: .failureRate)
    }
}
