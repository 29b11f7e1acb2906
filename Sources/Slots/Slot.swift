package import Lifecycle
package import MediaTypes
package import SlotProtocol
import Synchronization

/// One place where a job can run: a pair of children, reused from job to job and replaced when one dies.
///
/// A job is `convert` → `publish` → `end`; `end` belongs to every job, whatever came of it.
package actor Slot {
    private let configuration: SlotConfiguration
    private let log: Log
    private var jobs = 0
    private var isTranscodeBusy = false
    private var isTransferBusy = false
    private var isStreaming = false
    private var lines = LogTail()
    /// What the job has under way at stores, by its output; a dead child leaves it there.
    private var uploads: [Int: StagedOutput] = [:]
    /// What the kernel lacks to confine the children.
    package private(set) var unconfined: Set<SandboxPart> = []
    /// The id of the job in hand, or of the last one.
    private var job = ""
    private nonisolated let shared = Mutex(Shared())

    /// What `stop` touches from outside.
    private struct Shared {
        var pair: ChildPair?
        var isStopped = false
        /// Whether the job may have something under way at a store, which its child takes back while it lives.
        var hasUploads = false
    }

    package init(number: Int, configuration: SlotConfiguration, log: Log) {
        self.configuration = configuration
        self.log = log.with("slot", number)
    }

    /// Starts the children before the first job needs them.
    package func start() async throws(SlotError) {
        _ = try await livePair()
    }

    /// The process ids of both children, by the program's name, while there are some.
    package nonisolated var processes: [String: Int32] {
        guard let pair = shared.withLock({ $0.pair }) else { return [:] }
        return [pair.transfer, pair.transcode].reduce(into: [:]) { $0[$1.name] = $1.processIdentifier }
    }

    /// Converts the task's source and answers what `publish` would make visible.
    package func convert(
        _ task: SlotTask, progress: @escaping @Sendable (Progress) -> Void
    ) async throws(SlotError) -> CommitRecord {
        let pair = try await livePair()
        var board = OutputBoard(task, maxSeconds: configuration.transcode.source.seconds)
        begin(pair, task.transferJob, descriptor: task.outputDescriptor)
        if board.maySkip, let record = try await check(pair, &board) { return record }
        isTranscodeBusy = true
        pair.transcode.send(TranscodeOrder.convert(board.plan))
        let watch = SilenceWatch(pair: pair, limit: configuration.silence)
        defer { watch.end() }
        var isWaiting = false
        while true {
            switch await pair.events.next() {
            case .transfer(.waiting(let value)): isWaiting = value
            case .transfer(.staged(let index, let output)): board.staged(index, output)
            case .transfer(.outputFailed(let index, let failure)): board.failed(index, failure)
            case .transcode(.progress(let value)):
                watch.heard()
                let count = board.plan.renditions.count
                var checked = try plausible(pair) { () throws(ImplausibleReport) in try value.checked(outputs: count) }
                if isWaiting, checked.phase == .opening { checked.phase = .waiting }
                progress(checked)
            case .transcode(.output(let index, let measurement)):
                try plausible(pair) { () throws(ImplausibleReport) in try board.measured(index, measurement) }
            case .transcode(.outputFailed(let index, let failure)):
                try plausible(pair) { () throws(ImplausibleReport) in try board.unconverted(index, failure) }
            case .transcode(.converted):
                try plausible(pair) { () throws(ImplausibleReport) in try board.converted() }
                watch.end()
                isTranscodeBusy = false
            case let event: try handle(event, pair)
            }
            do throws(Failure) {
                if let record = try board.record() { return record }
            } catch { throw .failed(error, log: lines.all) }
        }
    }

    /// Waits until it is known which outputs are skipped, and answers what there is to say where all of them are.
    private func check(_ pair: ChildPair, _ board: inout OutputBoard) async throws(SlotError) -> CommitRecord? {
        while true {
            switch await pair.events.next() {
            case .transfer(.outputSkipped(let index, let place)): board.skipped(index, place)
            case .transfer(.checked):
                guard board.isAllSkipped else { return nil }
                do throws(Failure) { return try board.record() } catch { throw .failed(error, log: []) }
            case let event: try handle(event, pair)
            }
        }
    }

    /// Says what a source is, as JSON.
    package func probe(source: String, id: String, _ settings: ProbeSettings = .init()) async throws(SlotError)
        -> String
    {
        let pair = try await livePair()
        begin(pair, TransferJob(id: id, token: id, source: source, outputs: []), descriptor: nil)
        isTranscodeBusy = true
        pair.transcode.send(TranscodeOrder.probe(settings))
        let watch = SilenceWatch(pair: pair, limit: configuration.silence)
        defer { watch.end() }
        while true {
            switch await pair.events.next() {
            case .transcode(.progress): watch.heard()
            case .transcode(.probed(let text)):
                let probe = try plausible(pair) { () throws(ImplausibleReport) in try ProbeText.checked(text) }
                isTranscodeBusy = false
                return probe
            case let event: try handle(event, pair)
            }
        }
    }

    /// Makes the staged outputs of the conversion visible; answers those that could not be while others were.
    @discardableResult
    package func publish() async throws(SlotError) -> Publication {
        // The pair that converted, dead or alive: another one has nothing staged.
        guard let pair = shared.withLock({ $0.pair }) else { throw .stopped }
        pair.transfer.send(TransferOrder.publish)
        // Nobody can end a job from here on. Whoever reads a pipe may take his time.
        var alarm = isStreaming ? nil : pair.alarm(after: configuration.silence)
        defer { alarm?.cancel() }
        var publication = Publication()
        while true {
            switch await pair.events.next() {
            case .transfer(.published(let etags)):
                publication.etags = etags
                return publication
            case .transfer(.publishing):
                guard let former = alarm else { continue }
                former.cancel()
                alarm = pair.alarm(after: configuration.silence)
            case .transfer(.outputFailed(let index, let failure)): publication.failures[index] = failure
            case .transfer(.outputSkipped(let index, _)): publication.skipped.insert(index)
            case .silent:
                throw crash(
                    pair,
                    "respool-transfer published nothing for \(Int(configuration.silence.seconds)) s and was killed")
            case let event: try handle(event, pair)
            }
        }
    }

    /// Settles what an earlier owner of the job left; between jobs.
    package func settle(_ record: CommitRecord, job: String) async throws(SlotError) -> Settlement {
        let pair = try await livePair()
        pair.transfer.send(TransferOrder.settle(record, job: job))
        while true {
            switch await pair.events.next() {
            case .transfer(.settled(let settlement)): return settlement
            case let event: try handle(event, pair)
            }
        }
    }

    /// Ends the job: everything of it is released when this returns, and the slot takes the next one.
    package func end() async {
        let (pair, isStopped) = shared.withLock { shared in
            defer { shared.isStopped = false }
            return (shared.pair, shared.isStopped)
        }
        guard let pair else { return }
        jobs += 1
        if isStopped || isTranscodeBusy {
            if isTransferBusy, shared.withLock({ $0.hasUploads }) { await endTransfer(pair) }
            dispose(pair)
            return await abandonUploads()
        }
        if isTransferBusy { await endTransfer(pair) }
        await abandonUploads()
        if let limit = configuration.jobsPerPair, jobs >= limit { replace(pair) }
    }

    /// Kills the pair now, from whatever thread; the work in hand then throws `stopped`.
    package nonisolated func stop() {
        let (pair, hasUploads) = shared.withLock { shared in
            shared.isStopped = true
            return (shared.pair, shared.hasUploads)
        }
        if hasUploads { pair?.transcode.kill() } else { pair?.kill() }
        pair?.events.append(.stopped)
    }

    /// Lets both children end by themselves, and kills them if they do not.
    package func shutdown() async {
        guard let pair = shared.withLock({ $0.pair }) else { return }
        pair.close()
        let alarm = pair.alarm(after: .seconds(5))
        defer { alarm.cancel() }
        while pair.living > 0 {
            if case .silent = await pair.events.next() { pair.kill() }
        }
        shared.withLock { $0.pair = nil }
    }

    // MARK: - The pair

    private func endTransfer(_ pair: ChildPair) async {
        guard !pair.transfer.isReaped else { return dispose(pair) }
        pair.transfer.send(TransferOrder.end)
        var alarm = pair.alarm(after: .seconds(10))
        defer { alarm.cancel() }
        while true {
            switch await pair.events.next() {
            // Thousands of parts take their time.
            case .transfer(.publishing):
                alarm.cancel()
                alarm = pair.alarm(after: .seconds(10))
            case .transfer(.ended(let leftBehind, let violation)):
                isTransferBusy = false
                if let leftBehind { warnOfRest("\(leftBehind)") } else { uploads = [:] }
                if let violation {
                    log.warning("the children are replaced", ["job": job, "reason": violation.message])
                }
                if violation != nil || !pair.isAlive { dispose(pair) }
                return
            case .ended(let ending) where ending.name == pair.transfer.name: return dispose(pair)
            case .silent: return dispose(pair)
            // What was told of the upload is taken back even if the child dies of it.
            case .transfer(.uploading(let index, let output)): uploads[index] = output
            // What was on its way when the job ended.
            case .transfer, .transcode, .ended, .stopped: continue
            }
        }
    }

    /// Has another child take back what a dead one left at stores.
    private func abandonUploads() async {
        guard !uploads.isEmpty else { return }
        let record = CommitRecord(uploads: uploads.values)
        uploads = [:]
        let limit = Task {
            guard (try? await Task.sleep(for: .seconds(20))) != nil, !Task.isCancelled else { return }
            stop()
        }
        do throws(SlotError) { _ = try await settle(record, job: job) } catch { warnOfRest("\(error)") }
        limit.cancel()
        let isStopped = shared.withLock { shared in
            defer { shared.isStopped = false }
            return shared.isStopped
        }
        if isStopped, let pair = shared.withLock({ $0.pair }) { dispose(pair) }
    }

    private func warnOfRest(_ reason: String) {
        log.warning("something unfinished may be left at a store", ["job": job, "reason": reason])
    }

    private func livePair() async throws(SlotError) -> ChildPair {
        let (pair, isStopped) = shared.withLock { ($0.pair, $0.isStopped) }
        if isStopped { throw .stopped }
        if let pair {
            if pair.isAlive { return pair }
            dispose(pair)
        }
        let started: ChildPair
        do { (started, unconfined) = try await ChildPair.start(configuration) } catch { throw .failed(error, log: []) }
        log.debug("children started")
        let mayUse = shared.withLock { shared in
            shared.pair = started
            return !shared.isStopped
        }
        jobs = 0
        isTranscodeBusy = false
        isTransferBusy = false
        guard mayUse else { throw .stopped }
        return started
    }

    private func begin(_ pair: ChildPair, _ job: TransferJob, descriptor: CInt?) {
        lines = LogTail()
        uploads = [:]
        self.job = job.id
        isTransferBusy = true
        isStreaming = descriptor != nil
        shared.withLock { $0.hasUploads = job.outputs.contains { $0.place.map(OutputPath.isObject) == true } }
        pair.transfer.send(TransferOrder.job(job), descriptor: descriptor)
    }

    /// What every wait does with an event that it did not wait for.
    private func handle(_ event: ChildPair.Event, _ pair: ChildPair) throws(SlotError) {
        switch event {
        case .transcode(.log(let line)): lines.append(line)
        case .transfer(.uploading(let index, let output)): uploads[index] = output
        // One child may tell of the other's death before it is reaped.
        case .transcode(.failed(let failure)) where failure.code == .crashed: throw crash(pair, failure.bounded.message)
        case .transcode(.failed(let failure)):
            let checked = try plausible(pair) { () throws(ImplausibleReport) in try failure.checked() }
            isTranscodeBusy = false
            throw .failed(checked, log: lines.all)
        case .transfer(.failed(let failure)): throw .failed(failure, log: lines.all)
        case .transfer(.violation(let failure)): throw violation(pair, failure)
        case .stopped: throw .stopped
        case .ended(let ending): throw crash(pair, "\(ending)")
        case .silent:
            throw crash(
                pair, "respool-transcode said nothing for \(Int(configuration.silence.seconds)) s and was killed")
        // Left over from the end of a conversion that was waited for elsewhere.
        case .transcode(.progress), .transcode(.output), .transcode(.outputFailed), .transfer(.staged), .transfer(.outputFailed),
            .transfer(.outputSkipped), .transfer(.checked), .transfer(.publishing), .transfer(.waiting):
            return
        case .transcode, .transfer: throw crash(pair, "a child of the slot answered something else than it was asked")
        }
    }

    /// What a transcoder says, if it can be true; one that says something else is not to be trusted any more.
    private func plausible<Value>(
        _ pair: ChildPair, _ check: () throws(ImplausibleReport) -> Value
    ) throws(SlotError) -> Value {
        do throws(ImplausibleReport) { return try check() } catch {
            throw crash(pair, "respool-transcode reported \(error), which cannot be, and was killed")
        }
    }

    private func crash(_ pair: ChildPair, _ what: String) -> SlotError {
        let (isStopped, hasUploads) = shared.withLock { ($0.isStopped, $0.hasUploads) }
        if hasUploads { pair.transcode.kill() } else { pair.kill() }
        isTranscodeBusy = true
        guard !isStopped else { return .stopped }
        log.warning("a child crashed", ["job": job, "reason": what])
        let last = lines.all.last.map { "; libav's last words: \($0)" } ?? ""
        return .crashed(Failure(.crashed, what + last), log: lines.all)
    }

    /// Kills a transcoder that did not keep to its job.
    private func violation(_ pair: ChildPair, _ failure: Failure) -> SlotError {
        let error = crash(pair, failure.message)
        guard failure.code != .crashed, case .crashed(_, let log) = error else { return error }
        return .failed(failure, log: log)
    }

    private func dispose(_ pair: ChildPair) {
        pair.kill()
        shared.withLock { $0.pair = nil }
    }

    /// Lets an idle pair go; the next job starts another.
    private func replace(_ pair: ChildPair) {
        pair.close()
        shared.withLock { $0.pair = nil }
    }
}
