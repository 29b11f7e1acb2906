import JobSchema
import Jobs
import Lifecycle

/// Reports the transitions of jobs to the queue, and repeats each call until the queue replies.
actor TransitionReporter {
    private let queue: JobQueue
    private let batcher: FinishBatcher
    private let health: WorkerHealth
    private let metrics: WorkerMetrics
    private let log: Log
    private var recent: [Entry] = []
    private var isStopped = false
    private var isResending = false

    private struct Entry {
        let id: String
        let token: String
        let outcome: Outcome
        let lines: [String]
        let time = ContinuousClock.now
    }

    /// How long an outcome is kept, to be reported again to a Redis that lost its most recent data.
    private static let memory: Duration = .seconds(60)
    private static let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))
    /// The number of consecutive permanent errors after which a call is aborted.
    private static let maxRefusals = 20

    init(queue: JobQueue, health: WorkerHealth, metrics: WorkerMetrics, log: Log) {
        self.queue = queue
        batcher = FinishBatcher(queue)
        self.health = health
        self.metrics = metrics
        self.log = log
    }

    /// Requests permission to publish; `nil` if no reply will be received.
    ///
    /// A reply that took too long, because Redis was slow or this process was suspended, is discarded: the lease may
    /// have expired since. The request is then repeated.
    func publish(_ job: ClaimedJob, _ record: CommitRecord) async -> PublishAnswer? {
        while true {
            var asked = ContinuousClock.now
            let answer = await untilAnswered("publish") { () async throws(QueueError) in
                asked = .now
                return try await self.queue.publish(id: job.id, token: job.token, record: record)
            }
            guard answer == .ok, asked.duration(to: .now) > queue.settings.lease / 2, !isStopped else { return answer }
        }
    }

    /// Reports that the result of an earlier owner's commit record is not visible; `nil` if no reply will be received.
    func recover(_ job: ClaimedJob) async -> RecoveryAnswer? {
        await untilAnswered("recover") { () async throws(QueueError) in
            try await self.queue.recover(id: job.id, token: job.token)
        }
    }

    /// Finishes the attempt; `nil` if no reply will be received.
    func finish(_ job: ClaimedJob, _ outcome: Outcome, lines: [String]) async -> FinishAnswer? {
        let entry = Entry(id: job.id, token: job.token, outcome: outcome, lines: lines)
        prune(before: entry.time - Self.memory)
        recent.append(entry)
        return await untilAnswered("finish") { () async throws(QueueError) in try await self.report(entry) }
    }

    /// Reports the outcomes of the last minute again after an outage, because Redis may have lost them.
    ///
    /// Every call is fenced by its token, so outcomes that Redis still has are not changed.
    func resend() async {
        guard !isResending else { return }
        isResending = true
        defer { isResending = false }
        let start = ContinuousClock.now - Self.memory
        let entries = Array(recent.drop { $0.time < start })
        // Concurrently, so that they are batched into few calls.
        let errors = await withTaskGroup(of: QueueError?.self) { group in
            for entry in entries {
                group.addTask {
                    do throws(QueueError) { _ = try await self.report(entry) } catch { return error }
                    return nil
                }
            }
            var errors: [QueueError] = []
            while let error = await group.next() {
                if let error { errors.append(error) }
            }
            return errors
        }
        metrics.resent(entries.count - errors.count)
        if let error = errors.first { health.failed("finish", queue.name, error) }
    }

    /// Aborts calls without a reply after their current attempt, because the process is about to exit.
    func stop() { isStopped = true }

    /// Removes old outcomes once they are a quarter of all, because each removal moves all younger ones.
    private func prune(before start: ContinuousClock.Instant) {
        guard let entry = recent.dropFirst(recent.count / 4).first, entry.time < start else { return }
        recent.removeFirst(recent.prefix { $0.time < start }.count)
    }

    private func report(_ entry: Entry) async throws(QueueError) -> FinishAnswer {
        try await batcher.finish(
            Ending(id: entry.id, token: entry.token, outcome: entry.outcome, log: entry.lines))
    }

    private func untilAnswered<Answer: Sendable>(
        _ operation: String, _ call: () async throws(QueueError) -> Answer
    ) async -> Answer? {
        var failures = 0
        var refusals = 0
        while true {
            let start = ContinuousClock.now
            do throws(QueueError) {
                let answer = try await call()
                metrics.answered(operation, seconds: start.duration(to: .now).seconds)
                return answer
            } catch {
                failures += 1
                refusals = error.isTransient ? 0 : refusals + 1
                if error.isShortOfReplicas {
                    // Redis itself replied, so this is not an outage.
                    metrics.unacknowledged()
                    if failures == 1 { log.warning("\(operation) is not confirmed, retrying: \(error)") }
                } else {
                    health.failed(operation, queue.name, error)
                }
                guard !isStopped, refusals < Self.maxRefusals else {
                    log.error("\(operation) failed and is not retried: \(error)")
                    return nil
                }
            }
            try? await Task.sleep(for: Self.backoff.delay(afterFailure: failures))
        }
    }
}
