package import JobSchema
package import Lifecycle
package import MediaTypes
package import SlotIPC
import Synchronization

/// Runs one job at a time in a pair of children, which is reused for several jobs, and replaced when a child ends.
///
/// A job is `convert` → `publish` → `end`, perhaps with `prefetch` before; `end` follows every job, whatever its outcome.
package actor PairSession {
    let configuration: SlotConfiguration
    let log: Log
    private var jobs = 0
    /// Whether the transcoder has not replied yet, or is no longer trusted.
    var isTranscodeBusy = false
    var isTransferBusy = false
    /// Whether the output is written to a descriptor.
    var isStreaming = false
    /// The pair that fetches the source of the next conversion.
    var prefetching: ChildPair?
    var lines = LogTail()
    /// The job's uploads to stores in progress, by output; they remain there if the child ends.
    var uploads: [Int: StagedOutput] = [:]
    /// The features that the kernel lacks to confine the children.
    package private(set) var unconfined: Set<SandboxPart> = []
    /// The id of the current or last job.
    var job = ""
    /// What the last job took of its source.
    private var sourceUse: SourceUse?
    /// The tenant of that job.
    private var lastTenant: String?
    nonisolated let shared = Mutex(Shared())

    /// The state that `stop` accesses from other threads.
    struct Shared {
        var pair: ChildPair?
        var isStopped = false
        /// Whether the job may have uploads in progress, which its child aborts if it is not killed.
        var hasUploads = false
        /// Why the last start of children failed; `nil` if it did not.
        var startFailure: Failure?
    }

    /// Starts no child yet. The number marks the session's lines in the log.
    package init(number: Int, configuration: SlotConfiguration, log: Log) {
        self.configuration = configuration
        self.log = log.with("slot", number)
    }

    /// Starts the children before the first job needs them.
    package func start() async throws(SlotError) {
        _ = try await livePair()
    }

    /// The process ids of both children by the name of the program; empty if there are none.
    package nonisolated var processes: [String: Int32] {
        guard let pair = shared.withLock({ $0.pair }) else { return [:] }
        return [pair.transfer, pair.transcode].reduce(into: [:]) { $0[$1.name] = $1.processIdentifier }
    }

    /// Converts the task's source; returns the commit record for `publish`.
    ///
    /// `converted` is called once the transcoder has finished, and the rest is up to `respool-transfer`.
    package func convert(
        _ task: SlotTask, progress: @escaping @Sendable (Progress) -> Void, converted: @Sendable () -> Void = {}
    ) async throws(SlotError) -> CommitRecord {
        let pair = try await begin(task)
        var tracker = OutputTracker(task, maxSeconds: configuration.transcode.source.seconds)
        if tracker.maySkip, let record = try await check(pair, &tracker) { return record }
        isTranscodeBusy = true
        configuration.cores.enter()
        var usesCores = true
        defer { if usesCores { configuration.cores.leave() } }
        var threads = configuration.cores.share
        pair.transcode.allow(
            encoders: tracker.plan.threads ?? configuration.cores.cores, outputs: tracker.plan.renditions.count)
        pair.transcode.send(TranscodeOrder.convert(tracker.plan, threads: threads))
        let watch = SilenceWatchdog(pair: pair, of: pair.transcode, limit: configuration.silence)
        defer { watch.end() }
        var isWaiting = false
        while true {
            switch await pair.next() {
            case .transfer(.waiting(let value)): isWaiting = value
            case .transfer(.staged(let index, let output)): tracker.staged(index, output)
            case .transfer(.outputFailed(let index, let failure)): tracker.failed(index, failure)
            case .transcode(.progress(let value)):
                watch.reset()
                // The transcoder reads orders before it reports progress. More of them than reports would fill its socket.
                let share = configuration.cores.share
                if share != threads {
                    threads = share
                    pair.transcode.send(TranscodeOrder.threads(threads))
                }
                let count = tracker.plan.renditions.count
                var checked = try plausible(pair) { () throws(ImplausibleReport) in try value.checked(outputs: count) }
                if isWaiting, checked.phase == .opening { checked.phase = .waiting }
                progress(checked)
            case .transcode(.output(let index, let measurement)):
                try plausible(pair) { () throws(ImplausibleReport) in try tracker.measured(index, measurement) }
            case .transcode(.outputFailed(let index, let failure)):
                try plausible(pair) { () throws(ImplausibleReport) in try tracker.unconverted(index, failure) }
            case .transcode(.converted):
                try plausible(pair) { () throws(ImplausibleReport) in try tracker.converted() }
                watch.end()
                isTranscodeBusy = false
                usesCores = false
                configuration.cores.leave()
                converted()
            case let event: try handle(event, pair)
            }
            do throws(Failure) {
                if let record = try tracker.record() { return record }
            } catch { throw .failed(error, log: lines.all) }
        }
    }

    /// Waits until it is known which outputs are skipped; returns the record if all of them are, else `nil`.
    private func check(_ pair: ChildPair, _ tracker: inout OutputTracker) async throws(SlotError) -> CommitRecord? {
        while true {
            switch await pair.next() {
            case .transfer(.outputSkipped(let index, let location)): tracker.skipped(index, location)
            case .transfer(.checked):
                guard tracker.isAllSkipped else { return nil }
                do throws(Failure) { return try tracker.record() } catch { throw .failed(error, log: []) }
            case let event: try handle(event, pair)
            }
        }
    }

    /// Describes a source as JSON.
    package func probe(sourceURL: String, id: String, _ settings: ProbeSettings = .init()) async throws(SlotError)
        -> String
    {
        let pair = try await livePair()
        let job = TransferJob(id: id, token: id, sourceURL: sourceURL, outputs: [])
        begin(pair, job, with: .job(job))
        isTranscodeBusy = true
        pair.transcode.send(TranscodeOrder.probe(settings))
        let watch = SilenceWatchdog(pair: pair, of: pair.transcode, limit: configuration.silence)
        defer { watch.end() }
        while true {
            switch await pair.next() {
            case .transcode(.progress): watch.reset()
            case .transcode(.probed(let text)):
                let probe = try plausible(pair) { () throws(ImplausibleReport) in try ProbeText.checked(text) }
                isTranscodeBusy = false
                return probe
            case let event: try handle(event, pair)
            }
        }
    }

    /// Publishes the staged outputs of the conversion; returns those that failed or were skipped while others were
    /// published.
    @discardableResult
    package func publish() async throws(SlotError) -> Publication {
        // The pair of the conversion, even if it has ended: another one has nothing staged.
        guard let pair = shared.withLock({ $0.pair }) else { throw .stopped }
        pair.transfer.send(TransferOrder.publish)
        // The job can no longer be cancelled. The reader of a pipe may be slow, so it has no timeout.
        let watch = isStreaming ? nil : SilenceWatchdog(pair: pair, of: pair.transfer, limit: configuration.silence)
        defer { watch?.end() }
        var publication = Publication()
        while true {
            switch await pair.next() {
            case .transfer(.published(let etags)):
                publication.etags = etags
                return publication
            case .transfer(.publishing): watch?.reset()
            case .transfer(.outputFailed(let index, let failure)): publication.failures[index] = failure
            case .transfer(.outputSkipped(let index, _)): publication.skipped.insert(index)
            case .silent:
                throw crash(
                    pair,
                    "respool-transfer did not publish within \(Int(configuration.silence.seconds)) s and was killed")
            // The transcoder has finished, and has no influence on what is published.
            case .transcode(.progress), .transcode(.log): continue
            case .transcode: pair.transcode.kill(because: "sent a message after its conversion")
            case .transfer(.violation): pair.transcode.kill()
            case .ended(let ending) where ending.name == pair.transcode.name: continue
            case let event: try handle(event, pair)
            }
        }
    }

    /// Recovers what an earlier owner of the job left; called between jobs.
    package func recoverCommit(
        _ record: CommitRecord, job: String, tenant: String? = nil
    ) async throws(SlotError) -> RecoveredCommit {
        let pair = try await livePair(for: tenant)
        pair.transfer.send(TransferOrder.recoverCommit(record, job: job))
        while true {
            switch await pair.next() {
            case .transfer(.commitRecovered(let recovered)): return recovered
            case let event: try handle(event, pair)
            }
        }
    }

    /// Ends the job: all its resources are released when this returns, and the session accepts the next job. Returns what the job
    /// took of its source; `nil` if that is not known, because a child was killed.
    @discardableResult
    package func end() async -> SourceUse? {
        sourceUse = nil
        let (pair, isStopped) = shared.withLock { shared in
            defer { shared.isStopped = false }
            return (shared.pair, shared.isStopped)
        }
        prefetching = nil
        guard let pair else { return nil }
        jobs += 1
        if isStopped || isTranscodeBusy {
            if isTransferBusy, shared.withLock({ $0.hasUploads }) { await endTransfer(pair) }
            release(pair)
            await abortUploads()
            return sourceUse
        }
        if isTransferBusy { await endTransfer(pair) }
        await abortUploads()
        if let limit = configuration.jobsPerPair, jobs >= limit { replace(pair) }
        return sourceUse
    }

    // MARK: - The pair

    private func endTransfer(_ pair: ChildPair) async {
        guard !pair.transfer.isReaped else { return release(pair) }
        pair.transfer.send(TransferOrder.end)
        let watch = SilenceWatchdog(pair: pair, of: pair.transfer, limit: .seconds(10))
        defer { watch.end() }
        while true {
            switch await pair.next() {
            // Removing thousands of parts takes time.
            case .transfer(.publishing): watch.reset()
            case .transfer(.ended(let leftBehind, let violation, let source)):
                isTransferBusy = false
                sourceUse = source
                if let leftBehind { warnOfRest("\(leftBehind)") } else { uploads = [:] }
                if let violation {
                    log.warning("the children are replaced", ["job": job, "reason": violation.message])
                }
                if violation != nil || !pair.isAlive { release(pair) }
                return
            case .ended(let ending) where ending.name == pair.transfer.name: return release(pair)
            case .silent: return release(pair)
            // A reported upload is aborted later even if the child crashes.
            case .transfer(.uploading(let index, let output)): uploads[index] = output
            case .transfer(.violation): pair.transcode.kill()
            // Messages that were in transit when the job ended.
            case .transfer, .transcode, .ended, .stopped: continue
            }
        }
    }

    /// Lets a new child abort the uploads that a dead one left in stores.
    private func abortUploads() async {
        guard !uploads.isEmpty else { return }
        let record = CommitRecord(uploads: uploads.values)
        uploads = [:]
        let limit = Task {
            guard (try? await Task.sleep(for: .seconds(20))) != nil, !Task.isCancelled else { return }
            stop()
        }
        do throws(SlotError) { _ = try await recoverCommit(record, job: job, tenant: lastTenant) } catch {
            warnOfRest("\(error)")
        }
        limit.cancel()
        let isStopped = shared.withLock { shared in
            defer { shared.isStopped = false }
            return shared.isStopped
        }
        if isStopped, let pair = shared.withLock({ $0.pair }) { release(pair) }
    }

    private func warnOfRest(_ reason: String) {
        log.warning("an unfinished upload may be left at the store", ["job": job, "reason": reason])
    }

    /// The tenant whose jobs the children run; `nil` before their first job.
    package nonisolated var tenant: String? { shared.withLock { $0.pair?.tenant } }

    /// A running pair that can access the current lookup files, and has run no other tenant's jobs.
    func livePair(for tenant: String? = nil) async throws(SlotError) -> ChildPair {
        let (pair, isStopped) = shared.withLock { ($0.pair, $0.isStopped) }
        if isStopped { throw .stopped }
        lastTenant = tenant
        if let pair {
            if !pair.isAlive {
                release(pair)
            } else if !pair.serves(tenant) {
                replace(pair)
            } else {
                let reason: String?
                do throws(Failure) { reason = try await pair.outdated(configuration) } catch {
                    throw unavailable(error)
                }
                guard let reason else {
                    shared.withLock { $0.startFailure = nil }
                    return pair
                }
                log.info("children replaced: \(reason)")
                replace(pair)
            }
        }
        let started: ChildPair
        do throws(Failure) { (started, unconfined) = try await ChildPair.start(configuration, log: log) } catch {
            throw unavailable(error)
        }
        log.debug("children started")
        let mayUse = shared.withLock { shared in
            shared.pair = started
            shared.startFailure = nil
            return !shared.isStopped
        }
        jobs = 0
        isTranscodeBusy = false
        isTransferBusy = false
        guard mayUse, started.serves(tenant) else { throw .stopped }
        return started
    }

    private func unavailable(_ failure: Failure) -> SlotError {
        shared.withLock { $0.startFailure = failure }
        return .unavailable(failure)
    }

    private func release(_ pair: ChildPair) {
        pair.kill()
        shared.withLock { $0.pair = nil }
    }

    /// Closes an idle pair; the next job starts another.
    private func replace(_ pair: ChildPair) {
        pair.close()
        shared.withLock { $0.pair = nil }
        Task {
            // A pair that does not exit is killed; it has no job to finish.
            try? await Task.sleep(for: .seconds(30))
            pair.kill()
        }
    }
}
