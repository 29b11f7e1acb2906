package import Jobs
package import Lifecycle
package import SlotProtocol
import Slots

/// Takes jobs for its free slots and runs them, until it is asked to stop.
package actor JobWorker {
    /// Whether the worker lives and is ready, for those who ask from outside.
    package nonisolated let contact: Contact

    let queue: JobQueue
    let doorbell: Doorbell
    let record: WorkerRecord
    let metrics: WorkerMetrics
    let log: Log
    let ledger: Ledger
    let hand = Hand()
    private let configuration: WorkerConfiguration
    private let slots: [Slot]

    var free: [Slot]
    var isDraining = false
    /// The wait at the doorbell, while there is one.
    var bell: Task<Void, Never>?
    /// The wait for a free slot, while there is one.
    var vacancy: CheckedContinuation<Void, Never>?
    private var wasCutShort = false
    private var graceEnd: Task<Void, Never>?

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

    package init(
        queue: JobQueue, doorbell: Doorbell, configuration: WorkerConfiguration, metrics: WorkerMetrics, log: Log
    ) {
        self.queue = queue
        self.doorbell = doorbell
        self.configuration = configuration
        self.metrics = metrics
        self.log = log
        record = .ofThisProcess(slots: configuration.slots)
        contact = Contact(log: log, metrics: metrics)
        ledger = Ledger(queue: queue, contact: contact, metrics: metrics, log: log)
        slots = (0..<configuration.slots).map { Slot(number: $0, configuration: configuration.slot, log: log) }
        free = slots
    }

    /// Runs jobs until `drain` or `stop` was called and none is left in hand; fails if a slot cannot be started.
    ///
    /// The order of the end: the intake closes, the jobs end, the beat stops, the queue forgets the worker, the children go.
    package func run(lifeSign: LifeSign?) async throws(Failure) -> End {
        try await startSlots()
        metrics.started(slots: slots.count)
        log.info("worker started", ["worker": record.name, "slots": "\(slots.count)", "queue": queue.name.text])
        let heart = Heart(
            queue: queue, record: record, hand: hand, ledger: ledger, contact: contact, lifeSign: lifeSign,
            metrics: metrics, log: log)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await heart.run() }
            await runJobs()
            group.cancelAll()
        }
        graceEnd?.cancel()
        await leave()
        log.info(wasCutShort ? "worker stopped at once" : "worker drained")
        return wasCutShort ? .cutShort : .drained
    }

    /// Takes no more jobs, and gives back those that are not over when the grace is.
    package func drain() {
        guard !isDraining else { return }
        isDraining = true
        contact.drains()
        log.info("draining", ["jobs": "\(hand.count)", "grace": configuration.grace.rounded])
        bell?.cancel()
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
        log.warning("stopping at once", ["jobs": "\(hand.count)"])
        wasCutShort = true
        for job in hand.all { job.abandon() }
        try? await Task.sleep(for: Self.stopGrace)
        await ledger.giveUp()
    }

    /// Resumes the intake, which waits for a free slot.
    func wake() {
        vacancy?.resume()
        vacancy = nil
    }

    private func giveBack() {
        let jobs = hand.all
        guard !jobs.isEmpty else { return }
        log.warning("the grace is over: unfinished jobs are given back", ["jobs": "\(jobs.count)"])
        for job in jobs { job.end(.released) }
    }

    private func cutShort() async {
        wasCutShort = true
        for job in hand.all { job.abandon() }
        await ledger.giveUp()
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

    private func leave() async {
        do throws(QueueError) { try await queue.leave(worker: record.name) } catch {
            log.debug("the queue could not be told that this worker leaves: \(error)")
        }
        await endSlots()
    }

    private func endSlots() async {
        await withDiscardingTaskGroup { group in
            for slot in slots { group.addTask { await slot.shutdown() } }
        }
    }
}
