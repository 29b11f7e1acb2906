import Jobs

/// The figures of a queue at one moment.
struct QueueSample: Sendable {
    let stats: QueueStats
    let sizes: QueueSizes
    /// What happened since the first sample.
    let totals: JobCounts
}

/// Reads the figures of a queue at most once a second.
actor QueueSampler {
    let queue: JobQueue
    private var latest: QueueSample?
    private var moment: ContinuousClock.Instant?
    private var reading: Task<QueueSample?, Never>?
    /// What happened since the first sample.
    private var totals = JobCounts()
    /// The newest hour of the last sample.
    private var newest: HourCounts?
    /// When they were read.
    private var counted: ContinuousClock.Instant?

    private static let age: Duration = .seconds(1)

    init(_ queue: JobQueue) { self.queue = queue }

    /// The latest figures; `nil` if Redis does not respond.
    func sample() async -> QueueSample? {
        if let moment, .now - moment < Self.age { return latest }
        if let reading { return await reading.value }
        let task = Task { try? await self.read() }
        reading = task
        latest = await task.value
        moment = .now
        reading = nil
        return latest
    }

    private func read() async throws(QueueError) -> QueueSample {
        let stats = try await queue.stats()
        let sizes = try await queue.sizes()
        // The hour of the last sample may have ended since.
        let hours = counted.map { Int((.now - $0) / .seconds(3600)) + 2 } ?? 1
        return QueueSample(stats: stats, sizes: sizes, totals: add(try await queue.hourlyCounts(min(hours, 720))))
    }

    /// Adds what happened since the last sample, from the counts of hours, the newest first. Redis keeps a count per hour and no
    /// total.
    private func add(_ hours: [HourCounts]) -> JobCounts {
        if let newest {
            for hour in hours where hour.start >= newest.start {
                totals =
                    totals + (hour.start == newest.start ? hour.counts.increase(since: newest.counts) : hour.counts)
            }
        }
        newest = hours.first
        counted = .now
        return totals
    }
}
