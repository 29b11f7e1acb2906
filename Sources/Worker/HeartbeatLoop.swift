import JobSchema
import Jobs
import Lifecycle

/// Sends a beat every second for one queue: renews the leases of its active jobs, reports their progress, and ends the
/// jobs that the reply names.
struct HeartbeatLoop: Sendable {
    let served: ServedQueue
    let record: WorkerRecord
    let health: WorkerHealth
    let heartbeatFile: HeartbeatFile?
    let metrics: WorkerMetrics
    let scheduleRunner: ScheduleRunner
    let callbacks: CallbackSender?
    let log: Log
    /// Called with the highest priority among the queue's ready jobs.
    var isReady: @Sendable (JobSpec.Priority) async -> Void = { _ in }

    /// The latest order that the worker has from any of its queues.
    var order: @Sendable () async -> WorkerOrder = { .none }
    /// Called with the latest order that this queue has.
    var obeyOrder: @Sendable (WorkerOrder) async -> Void = { _ in }

    private static let interval: Duration = .seconds(1)

    /// Sends beats until the task is cancelled.
    func run() async {
        var next = ContinuousClock.now
        while !Task.isCancelled {
            health.tick()
            heartbeatFile?.renew(silence: health.silence)
            await beat()
            next = max(next + Self.interval, .now)
            try? await Task.sleep(until: next)
        }
    }

    private func beat() async {
        let jobs = served.activeJobs.all
        let heartbeats = jobs.compactMap(\.heartbeat)
        var record = record
        record.jobs = heartbeats.map(\.id)
        let start = ContinuousClock.now
        let answer: BeatAnswer
        do throws(QueueError) {
            answer = try await served.queue.beat(worker: record, jobs: heartbeats, order: order())
        } catch {
            return health.failed("beat", served.queue.name, error)
        }
        metrics.answered("beat", seconds: start.duration(to: .now).seconds)
        let wasOut = health.answered(served.queue.name)
        served.lostLeases.report(answer.lostLeases)
        for job in jobs { obey(answer.replies[job.job.id], job) }
        await obeyOrder(answer.order)
        if let priority = answer.readyPriority { await isReady(priority) }
        if answer.hasCallbacks, let callbacks { Task { await callbacks.collect(served.queue) } }
        // Runs beside the beat, which the leases depend on: on a slow connection to Redis, reporting a minute's
        // outcomes can take longer than a lease.
        if wasOut { Task { await served.reporter.resend() } }
        if answer.isBroken { Task { await repair() } }
        if answer.isScheduleDue { Task { await scheduleRunner.run() } }
    }

    /// Mends what a script that failed half-way has left.
    private func repair() async {
        do throws(QueueError) {
            let report = try await QueueRepair(served.queue).run()
            for sentence in report.mended { log.warning("repaired after a script failed half-way: \(sentence)") }
            for sentence in report.left { log.error("not repaired after a script failed half-way: \(sentence)") }
        } catch {
            log.error("repairing the queue after a script failed half-way did not succeed, retrying: \(error)")
        }
    }

    private func obey(_ reply: BeatReply?, _ job: ActiveJob) {
        switch reply {
        case .lost: job.end(.lost)
        case .cancel: job.end(.cancelled)
        case .expired: job.end(.expired)
        case .ok, nil: break
        }
    }
}
