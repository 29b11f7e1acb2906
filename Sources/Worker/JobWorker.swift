package import JobSchema
package import Jobs
package import Lifecycle
import SlotIPC
import Slots

/// Takes jobs for its free slots and runs them, until it is asked to stop.
package actor JobWorker {
    /// Whether the worker lives and is ready, for those who ask from outside.
    package nonisolated let health: WorkerHealth

    let queues: [ServedQueue]
    let record: WorkerRecord
    let metrics: WorkerMetrics
    let log: Log
    /// Nothing in a worker that has no secret to sign with, which leaves callbacks to others.
    let callbacks: CallbackSender?
    private let configuration: WorkerConfiguration
    private let slots: [Slot]

    var free: [Slot]
    var isDraining = false
    /// How far the worker is with asking each of its queues.
    var inquiries: [QueueInquiry]
    var rotation: QueueRotation
    /// The intake's wait, for a free slot or for somebody who rings, while there is one.
    var rest: CheckedContinuation<Void, Never>?
    private var wasCutShort = false
    private var graceEnd: Task<Void, Never>?
    /// What says whether jobs may run at all; no job is taken before.
    private var admission: Task<Bool, Never>?

    /// How a worker's run came to its end.
    package enum End: Sendable, Hashable {
        /// Every job in hand was finished or given back.
        case drained
        /// Somebody, or a result that did not want to appear, cut the draining short.
        case cutShort
    }

    /// How long results that are just becoming visible, and words to the queue, may take after the grace.
    private static let extraGrace: Duration = .seconds(4)
    /// How long jobs are given back when the worker is stopped at once.
    private static let stopGrace: Duration = .seconds(2)
    /// How long callbacks that are on their way may take once all jobs are over.
    private static let callbackGrace: Duration = .seconds(3)
    static let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))

    /// A worker for the queues, each with a doorbell whose connection is its own, in the order that the configuration names.
    package init(
        queues: [(JobQueue, Doorbell)], configuration: WorkerConfiguration, metrics: WorkerMetrics, log: Log
    ) {
        let health = WorkerHealth(log: log, metrics: metrics, hasSeveralQueues: queues.count > 1)
        let served = queues.map { queue, doorbell in
            ServedQueue(
                queue: queue, doorbell: doorbell,
                reporter: TransitionReporter(queue: queue, health: health, metrics: metrics, log: log),
                lostLeases: LostLeaseLog(
                    metrics: metrics, log: queues.count > 1 ? log.with("queue", queue.name.text) : log))
        }
        self.init(served, health: health, configuration: configuration, metrics: metrics, log: log)
    }

    init(
        _ queues: [ServedQueue], health: WorkerHealth, configuration: WorkerConfiguration, metrics: WorkerMetrics,
        log: Log
    ) {
        self.configuration = configuration
        self.metrics = metrics
        self.log = log
        self.health = health
        self.queues = queues
        callbacks = configuration.callbackSecrets.map {
            CallbackSender(secrets: $0, policy: configuration.slot.policy, metrics: metrics, log: log)
        }
        record = .ofThisProcess(slots: configuration.slots)
        inquiries = Array(repeating: QueueInquiry(), count: queues.count)
        rotation = QueueRotation(configuration.queues)
        slots = (0..<configuration.slots).map { Slot(number: $0, configuration: configuration.slot, log: log) }
        free = slots
    }

    /// Runs jobs until `drain` or `stop` was called and none is left in hand; fails if a slot cannot be started. Where there is an
    /// admission, the first job is taken once that is over; it is cancelled if the worker drains before.
    ///
    /// The order of the end: the intake closes, the jobs end, the beat stops, the callbacks on their way arrive, the queue
    /// forgets the worker, the children go.
    package func run(
        heartbeatFile: HeartbeatFile?, once admission: Task<Bool, Never>? = nil
    ) async throws(Failure) -> End {
        self.admission = admission
        if isDraining { admission?.cancel() }
        try await startSlots()
        metrics.started(slots: slots.count)
        await reportSandbox()
        await withTaskGroup(of: Void.self) { group in
            for served in queues {
                let loop = HeartbeatLoop(
                    served: served, record: record, health: health, heartbeatFile: heartbeatFile, metrics: metrics,
                    scheduleRunner: ScheduleRunner(queue: served.queue, log: log), callbacks: callbacks)
                group.addTask { await loop.run() }
            }
            if await admission?.value != false {
                log.info(
                    "worker started",
                    ["worker": record.name, "slots": "\(slots.count)", "queue": configuration.queues.text])
            }
            await runJobs()
            group.cancelAll()
        }
        graceEnd?.cancel()
        await callbacks?.close(within: wasCutShort ? .zero : Self.callbackGrace)
        await deregister()
        log.info(wasCutShort ? "worker stopped at once" : "worker drained")
        return wasCutShort ? .cutShort : .drained
    }

    /// Takes no more jobs, and gives back those that are not over when the grace is.
    package func drain() {
        guard !isDraining else { return }
        isDraining = true
        admission?.cancel()
        health.drains()
        log.info("draining", ["jobs": "\(activeJobs.count)", "grace": configuration.grace.rounded])
        for inquiry in inquiries { inquiry.bell?.cancel() }
        wake()
        graceEnd = Task {
            guard (try? await Task.sleep(for: configuration.grace)) != nil else { return }
            giveBack()
            guard (try? await Task.sleep(for: Self.extraGrace)) != nil else { return }
            await cutShort()
        }
    }

    /// Gives back what is in hand as quickly as that goes, and leaves the rest to the next owner.
    package func stop() async {
        drain()
        log.warning("stopping at once", ["jobs": "\(activeJobs.count)"])
        wasCutShort = true
        for job in activeJobs { job.interrupt() }
        try? await Task.sleep(for: Self.stopGrace)
        await stopReporting()
    }

    /// The jobs of all queues.
    var activeJobs: [ActiveJob] { queues.flatMap(\.activeJobs.all) }

    /// Resumes the intake, which waits for a free slot or for somebody who rings.
    func wake() {
        rest?.resume()
        rest = nil
    }

    private func giveBack() {
        let jobs = activeJobs
        guard !jobs.isEmpty else { return }
        log.warning("the grace is over: unfinished jobs are given back", ["jobs": "\(jobs.count)"])
        for job in jobs { job.end(.released) }
    }

    private func cutShort() async {
        wasCutShort = true
        for job in activeJobs { job.interrupt() }
        await stopReporting()
    }

    private func stopReporting() async {
        for served in queues { await served.reporter.stop() }
    }

    private func startSlots() async throws(Failure) {
        let failures = await withTaskGroup(of: Failure?.self) { group in
            for slot in slots {
                group.addTask {
                    do throws(SlotError) { try await slot.start() } catch { return error.failure }
                    return nil
                }
            }
            var failures: [Failure] = []
            while let failure = await group.next() {
                if let failure { failures.append(failure) }
            }
            return failures
        }
        guard let failure = failures.first else { return }
        await endSlots()
        throw failure
    }

    private func reportSandbox() async {
        var unconfined: Set<SandboxPart> = []
        for slot in slots { await unconfined.formUnion(slot.unconfined) }
        guard !unconfined.isEmpty else { return }
        log.warning(
            "the children of the slots are not fully confined: this kernel or container has no \(unconfined.text)")
    }

    private func deregister() async {
        for served in queues {
            do throws(QueueError) { try await served.queue.removeWorker(record.name) } catch {
                log.debug("the queue \(served.queue.name.text) could not be told that this worker leaves: \(error)")
            }
        }
        await endSlots()
    }

    private func endSlots() async {
        await withDiscardingTaskGroup { group in
            for slot in slots { group.addTask { await slot.shutdown() } }
        }
    }
}
