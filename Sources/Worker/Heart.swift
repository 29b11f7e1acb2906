import Jobs
import Lifecycle
import SlotProtocol

/// Beats once a second for one queue: renews the leases of its jobs in hand, tells how far they are, and hears what is to end.
struct Heart: Sendable {
    let served: ServedQueue
    let record: WorkerRecord
    let contact: Contact
    let lifeSign: LifeSign?
    let metrics: WorkerMetrics
    let timetable: Timetable
    let callbacks: CallbackSender?

    private static let interval: Duration = .seconds(1)

    /// Beats until the task is cancelled.
    func run() async {
        var next = ContinuousClock.now
        while !Task.isCancelled {
            contact.tick()
            lifeSign?.renew(silence: contact.silence)
            await beat()
            next = max(next + Self.interval, .now)
            try? await Task.sleep(until: next)
        }
    }

    private func beat() async {
        let jobs = served.hand.all
        let heartbeats = jobs.compactMap(\.heartbeat)
        var record = record
        record.jobs = heartbeats.map(\.id)
        let start = ContinuousClock.now
        let answer: BeatAnswer
        do throws(QueueError) {
            answer = try await served.queue.beat(worker: record, jobs: heartbeats)
        } catch {
            return contact.failed("beat", served.queue.name, error)
        }
        metrics.answered("beat", seconds: start.duration(to: .now).seconds)
        let wasOut = contact.answered(served.queue.name)
        served.lostLeases.report(answer.lostLeases)
        for job in jobs { obey(answer.replies[job.job.id], job) }
        if answer.hasCallbacks, let callbacks { Task { await callbacks.collect(served.queue) } }
        // Beside the beat, which the leases live on: where Redis is far, a minute's outcomes take longer than a lease.
        if wasOut { Task { await served.ledger.resend() } }
        if answer.isScheduleDue { Task { await timetable.run() } }
    }

    private func obey(_ reply: BeatReply?, _ job: JobInHand) {
        switch reply {
        case .lost: job.end(.lost)
        case .cancel: job.end(.cancelled)
        case .expired: job.end(.expired)
        case .ok, nil: break
        }
    }
}
