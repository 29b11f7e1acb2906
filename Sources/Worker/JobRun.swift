import JobSchema
import Jobs
import Lifecycle
import MediaTypes
import SlotIPC
import Slots

/// The steps of one job in this worker: check, recover, convert, publish, finish.
struct JobRun: Sendable {
    let active: ActiveJob
    let reporter: TransitionReporter
    let metrics: WorkerMetrics
    let log: Log
    /// `nil` if the job has no spans.
    let trace: AttemptTrace?
    /// Called once the job is converted, and only its publication is left.
    let converted: @Sendable () -> Void

    private var job: ClaimedJob { active.job }
    private var session: PairSession { active.session }

    /// What is reported to the queue; no outcome if this worker no longer owns the job.
    private struct Result {
        var outcome: Outcome?
        var lines: [String] = []
    }

    /// Runs the job until it ends; the slot is free when this returns.
    func run() async {
        let start = ContinuousClock.now
        log.info("claimed", ["source": redactedURL(job.fields["source"] ?? ""), "format": job.fields["format"] ?? ""])
        let result = await attempt()
        // The session cleans up while the outcome is reported.
        async let use = session.end()
        let answer = await report(result, seconds: start.duration(to: .now).seconds)
        let end = WallClock.nanoseconds()
        let taken = await use
        if let taken { metrics.read(taken) }
        trace?.end(result.outcome, answer, at: end, source: taken)
    }

    private func attempt() async -> Result {
        let spec: JobSpec
        do throws(Failure) { spec = try JobSpec(fields: job.fields, unusable: job.unusable) } catch {
            _ = active.releaseSlot()
            return Result(outcome: .failed(error))
        }
        do throws(SlotError) {
            try await prefetch(spec)
            let alarm = Task { [active] in
                guard (try? await Task.sleep(for: spec.timeout)) != nil else { return }
                active.end(.timedOut)
            }
            defer { alarm.cancel() }
            let outcome = try await convert(spec)
            let isPublishing = active.isPublishing
            _ = active.releaseSlot()
            return await charged(Result(outcome: outcome), isPublishing)
        } catch {
            let isPublishing = active.isPublishing
            return await charged(
                Self.result(of: error, ending: active.releaseSlot(), timeout: spec.timeout), isPublishing)
        }
    }

    /// The result, unless the job failed because of the folders of this worker: then it is released, and not charged. If it had
    /// begun to publish, it cannot be released, and is repeated.
    private func charged(_ result: Result, _ isPublishing: Bool) async -> Result {
        // A child that a file system holds up is killed, as one that hangs.
        if case .crashed(let failure) = result.outcome, !isPublishing, await session.hasNoResponse() {
            log.warning("released: a file system does not respond", ["error": failure.message])
            return Result(outcome: .released, lines: result.lines)
        }
        guard case .failed(let failure, let outputs) = result.outcome, await session.hasLostFolders() else {
            return result
        }
        log.warning("released: the folders of jobs were replaced or cannot be used", ["error": failure.message])
        let repeated = Failure(failure.code, failure.message, retryable: true)
        return Result(outcome: isPublishing ? .failed(repeated, outputs: outputs) : .released, lines: result.lines)
    }

    /// Fetches the source of a job that was claimed ahead, until the job may be converted.
    private func prefetch(_ spec: JobSpec) async throws(SlotError) {
        guard !active.hasBegun else { return }
        active.report(Progress(phase: .waiting))
        // The result of an earlier attempt is looked for before anything is fetched.
        if job.commit == nil, !job.isCommitUnreadable { try await session.prefetch(task(spec)) }
        guard await active.waitToBegin() else { throw .stopped }
    }

    private func convert(_ spec: JobSpec) async throws(SlotError) -> Outcome? {
        guard active.ending == nil else { throw .stopped }
        guard !job.isCommitUnreadable else {
            // To run the job anyway could publish twice.
            throw .failed(
                Failure(
                    .internal,
                    "the commit record of an earlier attempt is unreadable: run all workers of the queue at one version",
                    retryable: true), log: [])
        }
        if let record = job.commit {
            if try await session.recoverCommit(record, job: job.id, tenant: session.tenant(of: job.fields))
                == .published
            {
                log.info("already published by an earlier attempt")
                return .published(record)
            }
            switch await reporter.recover(job) {
            case .ok: break
            case .cancelled: return .cancelled
            case .crashed: return .lost
            case .expired: return .expired
            case .stale, nil: return nil
            }
        }
        let start = ContinuousClock.now
        active.report(Progress(phase: .opening))
        trace?.enter(.convert)
        var record = try await session.convert(
            task(spec), progress: { [active] progress in active.report(progress) }, converted: converted)
        guard record.outputs.contains(where: \.isStaged) else { return .published(record) }
        guard active.beginPublishing() else { throw .stopped }
        trace?.enter(.publish)
        switch await reporter.publish(job, record) {
        case .ok:
            active.showPublishing()
            record.take(try await session.publish())
        case .cancelled: return .cancelled
        case .expired: return .expired
        case .stale, nil: return nil
        }
        let outputs = record.outputs.filter(\.isStaged).map(\.report)
        metrics.converted(seconds: start.duration(to: .now).seconds, outputs: outputs)
        return .published(record)
    }

    private func task(_ spec: JobSpec) -> SlotTask {
        SlotTask(
            id: job.id, token: job.token, sourceURL: spec.sourceURL, access: spec.access, plan: spec.plan,
            outputs: spec.destinations.indices.map { index in
                TransferJob.Output(
                    spec.location(ofOutput: index, job: job.id),
                    defaultName: spec.defaultName(ofOutput: index, job: job.id),
                    delivery: spec.deliveries[index])
            }, tenant: session.tenant(of: job.fields), start: job.isNew ? nil : job.createdAt)
    }

    private static func result(of error: SlotError, ending: ActiveJob.Ending?, timeout: Duration) -> Result {
        if case .failed(let failure, let log) = error, ending != .lost {
            return Result(outcome: .failed(failure), lines: log)
        }
        // Another worker, or this one later, runs the job; its attempt is not counted.
        if case .unavailable = error, ending == nil { return Result(outcome: .released) }
        switch ending {
        case .lost: return Result()
        case .cancelled: return Result(outcome: .cancelled)
        case .timedOut:
            let sentence = "the attempt exceeded the job's timeout of \(timeout.rounded) s"
            return Result(outcome: .failed(Failure(.timeout, sentence)))
        case .expired: return Result(outcome: .expired)
        case .released: return Result(outcome: .released)
        case nil:
            guard case .crashed(let failure, let log) = error else { return Result(outcome: .released) }
            return Result(outcome: .crashed(failure), lines: log)
        }
    }

    /// Reports to the queue; returns its answer, if there was one.
    private func report(_ result: Result, seconds: Double) async -> FinishAnswer? {
        if active.ending != nil { metrics.lostChildren("stopped") }
        guard let outcome = result.outcome else {
            metrics.ended("lost", code: "", seconds: seconds)
            log.warning("discarded: the lease is lost; another worker has the job, or it has finished")
            return nil
        }
        if case .crashed = outcome { metrics.lostChildren("crashed") }
        let lines = AttemptLog.lines(of: job, outcome, libav: result.lines, after: .seconds(seconds))
        let answer = await reporter.finish(job, outcome, lines: lines)
        let code = outcome.failure?.code.rawValue ?? ""
        metrics.ended(outcome.name, code: code, seconds: seconds)
        if case .acknowledged(let state, _) = answer { metrics.moved(to: state, code: code) }
        report(outcome, answer, seconds: seconds)
        return answer
    }

    private func report(_ outcome: Outcome, _ answer: FinishAnswer?, seconds: Double) {
        let log = log.with("seconds", Duration.seconds(seconds))
        switch answer {
        case .acknowledged(let state, _):
            guard let failure = outcome.failure else {
                return log.info(outcome == .released ? "released" : "\(state)")
            }
            log.warning("\(state): \(failure.message)", ["code": failure.code.rawValue])
        case .stale:
            log.warning("discarded: the job was taken from this worker before it could report `\(outcome.name)`")
        case .publishing: log.warning("still publishing, so it cannot be \(outcome.name)")
        case nil:
            log.warning("could not report the outcome; the lease will expire, and another worker will take the job")
        }
    }
}

extension Outcome {
    /// The outcome of a job whose deadline passed while it ran.
    fileprivate static let expired = failed(Failure(.expired, JobSpec.lateness))

    /// The outcome of a job whose workers were lost too often, the last one while it published.
    fileprivate static let lost = failed(
        Failure(.crashed, "the workers were lost, and the last one did not publish the result"))

    /// The outcome for a record whose outputs are visible: a job fails if one of its outputs has failed.
    fileprivate static func published(_ record: CommitRecord) -> Outcome {
        let outputs = record.outputs.map(\.report)
        guard let failure = record.failure else { return .completed(outputs) }
        return .failed(failure, outputs: outputs)
    }

    /// The outcome's name in metrics and log lines.
    var name: String {
        switch self {
        case .completed: "completed"
        case .failed: "failed"
        case .crashed: "crashed"
        case .cancelled: "cancelled"
        case .released: "released"
        }
    }

    var failure: Failure? {
        switch self {
        case .failed(let failure, _), .crashed(let failure): failure
        case .completed, .cancelled, .released: nil
        }
    }

    /// The reports of the outputs; empty if the outcome has none.
    var reports: [OutputReport] {
        switch self {
        case .completed(let reports), .failed(_, let reports): reports
        case .crashed, .cancelled, .released: []
        }
    }
}
