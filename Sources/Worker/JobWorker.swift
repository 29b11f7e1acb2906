package import JobSchema
package import Jobs
package import Lifecycle
import SlotIPC
import Slots
import Tracing

/// Claims jobs for its free slots and runs them, until it is stopped.
package actor JobWorker {
    /// Whether the worker is running and ready, for checks from outside.
    package nonisolated let health: WorkerHealth

    let queues: [ServedQueue]
    let record: WorkerRecord
    let metrics: WorkerMetrics
    let log: Log
    /// `nil` in a worker without a secret for signing, which leaves callbacks to other workers.
    let callbacks: CallbackSender?
    let configuration: WorkerConfiguration
    /// Sends the spans of jobs; `nil` without a collector.
    let spans: SpanExporter?
    let sessions: [PairSession]

    /// The slots' children without a job. There are more than conversions may run at a time, because a result is published while
    /// the next job is converted, and the sources of further ones are fetched.
    var free: [PairSession]
    /// The jobs whose sources are being fetched and converted.
    var converting: Set<ObjectIdentifier> = []
    /// The jobs whose sources are being fetched before they are converted.
    var prefetched: PrefetchedJobs
    let spoolSpace = SpoolSpace()
    /// Whether no jobs are claimed ahead, because the spool has too little space for their sources.
    var isShortOfSpace = false
    var hasWarnedOfSpace = false
    var isDraining = false
    /// The latest order of any queue; each queue learns it with the next beat.
    private var order = WorkerOrder.none
    /// The state of the claims of each queue.
    var inquiries: [QueueInquiry]
    var rotation: QueueRotation
    /// The continuation of the intake while it waits for a free slot or a bell.
    var rest: CheckedContinuation<Void, Never>?
    private var wasCutShort = false
    private var graceEnd: Task<Void, Never>?
    /// The task that decides whether jobs may run; no job is claimed before it ends.
    private var admission: Task<Bool, Never>?

    /// How a worker's run ended.
    package enum End: Sendable, Hashable {
        /// Every active job was finished or released.
        case drained
        /// The drain was interrupted by `stop`, or did not finish within the grace periods.
        case cutShort
    }

    /// How long publications and reports to the queue may take after the grace period.
    private static let extraGrace: Duration = .seconds(4)
    /// How long releasing jobs may take if the worker is stopped at once.
    private static let stopGrace: Duration = .seconds(2)
    /// How long callbacks and spans being sent may take after all jobs have ended.
    private static let callbackGrace: Duration = .seconds(3)
    /// The time between two checks of what jobs need of the host.
    static let hostPause: Duration = .seconds(1)
    static let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))

    /// Creates a worker for the queues in the order of the configuration; each doorbell has a separate connection.
    package init(
        queues: [(JobQueue, Doorbell)], configuration: WorkerConfiguration, metrics: WorkerMetrics, log: Log
    ) {
        let health = WorkerHealth(log: log, metrics: metrics, hasSeveralQueues: queues.count > 1)
        let served = queues.map { queue, doorbell in
            let metrics = metrics.serving(queue.name)
            return ServedQueue(
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
        let record = WorkerRecord.ofThisProcess(slots: configuration.slots, traits: configuration.traits)
        let spans = configuration.traces.map {
            SpanExporter($0, instance: record.name, policy: configuration.slot.policy, log: log) {
                metrics.exported(spans: $0, $1)
            }
        }
        self.record = record
        self.spans = spans
        callbacks = configuration.callbackSecrets.map {
            CallbackSender(secrets: $0, policy: configuration.slot.policy, spans: spans, metrics: metrics, log: log)
        }
        inquiries = Array(repeating: QueueInquiry(), count: queues.count)
        rotation = QueueRotation(configuration.queues)
        prefetched = PrefetchedJobs(configuration.queues)
        sessions = (0..<2 * configuration.slots + configuration.prefetch).map {
            PairSession(number: $0, configuration: configuration.slot, log: log)
        }
        // The last one is taken first, and children are started when they are first needed.
        free = sessions.reversed()
    }

    /// Runs jobs until `drain` or `stop` was called and no job is active; throws if a slot cannot be started. If
    /// `admission` is given, the first job is claimed after it ends; it is cancelled if the worker drains before.
    /// `started` is called when the slots are started, whether Redis replies or not.
    ///
    /// The order at the end: the intake closes, the jobs end, the beats stop, the callbacks being sent arrive, the
    /// worker's record is removed, the children exit.
    package func run(
        heartbeatFile: HeartbeatFile?, once admission: Task<Bool, Never>? = nil,
        started: @Sendable () -> Void = {}
    ) async throws(Failure) -> End {
        self.admission = admission
        if isDraining { admission?.cancel() }
        try await startSlots()
        health.started()
        metrics.started(slots: configuration.slots)
        await reportSandbox()
        started()
        await withTaskGroup(of: Void.self) { group in
            for (index, served) in queues.enumerated() {
                let loop = HeartbeatLoop(
                    served: served, record: record, health: health, heartbeatFile: heartbeatFile,
                    metrics: metrics.serving(served.queue.name),
                    scheduleRunner: ScheduleRunner(queue: served.queue, log: log), callbacks: callbacks, log: log,
                    isReady: { await self.makeRoom(for: $0, of: index) },
                    order: { await self.order }, obeyOrder: { await self.obey($0) })
                group.addTask { await loop.run() }
            }
            group.addTask { await self.watchHost() }
            if await admission?.value != false {
                log.info(
                    "worker started",
                    ["worker": record.name, "slots": configuration.slots, "queue": configuration.queues.text])
            }
            await runJobs()
            group.cancelAll()
        }
        graceEnd?.cancel()
        await callbacks?.close(within: wasCutShort ? .zero : Self.callbackGrace)
        await spans?.close(within: wasCutShort ? .zero : Self.callbackGrace)
        await deregister()
        log.info(wasCutShort ? "worker stopped immediately" : "worker drained")
        return wasCutShort ? .cutShort : .drained
    }

    /// Claims no more jobs, and releases those that have not ended after the grace period.
    package func drain() {
        guard !isDraining else { return }
        isDraining = true
        admission?.cancel()
        health.drains()
        log.info("draining", ["jobs": activeJobs.count, "grace": configuration.grace])
        for inquiry in inquiries { inquiry.bell?.cancel() }
        for job in prefetched.all { job.end(.released) }
        wake()
        graceEnd = Task {
            guard (try? await Task.sleep(for: configuration.grace)) != nil else { return }
            giveBack()
            guard (try? await Task.sleep(for: Self.extraGrace)) != nil else { return }
            await cutShort()
        }
    }

    /// Releases the active jobs as quickly as possible, and leaves the rest to their next owners.
    package func stop() async {
        drain()
        log.warning("stopping immediately", ["jobs": activeJobs.count])
        wasCutShort = true
        for job in activeJobs { job.interrupt() }
        try? await Task.sleep(for: Self.stopGrace)
        await stopReporting()
    }

    /// The jobs of all queues.
    var activeJobs: [ActiveJob] { queues.flatMap(\.activeJobs.all) }

    /// How many more jobs may be claimed.
    var room: Int {
        guard !order.isQuiet else { return 0 }
        let limit = configuration.slots + (isShortOfSpace ? 0 : configuration.prefetch)
        return min(max(limit - converting.count - prefetched.all.count, 0), free.count)
    }

    /// Records that a job is converted, so that the next one may start.
    func endConversion(of job: ActiveJob) {
        release { converting.remove(ObjectIdentifier(job)) }
    }

    /// Claims no more jobs of any queue, or claims jobs again, as the latest order says; running jobs continue.
    private func obey(_ latest: WorkerOrder) {
        guard latest.isLater(than: order) else { return }
        let wasQuiet = order.isQuiet
        order = latest
        guard wasQuiet != order.isQuiet else { return }
        log.info(wasQuiet ? "claiming jobs again" : "quiet: claiming no more jobs", ["jobs": "\(activeJobs.count)"])
        if wasQuiet { return wake() }
        for job in prefetched.all { job.end(.released) }
    }

    /// Takes back the children of a finished job.
    func vacate(_ job: ActiveJob) {
        release {
            converting.remove(ObjectIdentifier(job))
            prefetched.remove(job)
            free.append(job.session)
            // It is measured anew before a job is claimed.
            isShortOfSpace = false
        }
    }

    private func release(_ change: () -> Void) {
        let hadRoom = room > 0
        change()
        if !hadRoom && room > 0 || mayBegin { wake() }
    }

    /// Resumes the intake, which waits for a free slot or a bell.
    func wake() {
        rest?.resume()
        rest = nil
    }

    private func giveBack() {
        let jobs = activeJobs
        guard !jobs.isEmpty else { return }
        log.warning("the grace period has ended: unfinished jobs are released", ["jobs": jobs.count])
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
            for session in sessions.prefix(configuration.slots) {
                group.addTask {
                    do throws(SlotError) { try await session.start() } catch { return error.failure }
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
        for session in sessions { await unconfined.formUnion(session.unconfined) }
        guard !unconfined.isEmpty else { return }
        log.warning(
            "the children of the slots are not fully confined: this kernel or container has no \(unconfined.text)")
    }

    private func deregister() async {
        for served in queues {
            do throws(QueueError) { try await served.queue.removeWorker(record.name) } catch {
                log.debug("signing this worker off from the queue \(served.queue.name.text) failed: \(error)")
            }
        }
        await endSlots()
    }

    private func endSlots() async {
        await withDiscardingTaskGroup { group in
            for session in sessions { group.addTask { await session.shutdown() } }
        }
    }
}
