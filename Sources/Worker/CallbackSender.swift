import FoundationEssentials
import JobSchema
import Jobs
import Lifecycle
import SlotIPC
import Slots
import Tracing

/// Sends the callbacks of all queues, independently of the slots.
actor CallbackSender {
    private let child: PostChild
    private let secrets: CallbackSecrets
    private let spans: SpanExporter?
    private let metrics: WorkerMetrics
    private let log: Log
    private var isClosed = false
    private var inFlight = 0
    /// Queues from which callbacks are being claimed, and those for which another claim was requested.
    private var asked: Set<QueueName> = []
    private var pending: Set<QueueName> = []

    private static let maxInFlight = 32
    private static let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))

    init(
        secrets: CallbackSecrets, policy: TransferPolicy, spans: SpanExporter?, metrics: WorkerMetrics, log: Log
    ) {
        child = PostChild(policy: policy, purpose: "callbacks", log: log)
        self.secrets = secrets
        self.spans = spans
        self.metrics = metrics
        self.log = log
    }

    /// Claims due callbacks, as many as there is room for, and starts to send them.
    func collect(_ queue: JobQueue) async {
        pending.insert(queue.name)
        guard asked.insert(queue.name).inserted else { return }
        while pending.remove(queue.name) != nil, !isClosed, inFlight < Self.maxInFlight {
            let (count, token) = (Self.maxInFlight - inFlight, Nonce.random())
            // A claim whose reply was lost owns callbacks, which no other sender sends until it expires; so the call is
            // repeated.
            let callbacks = await untilAnswered(since: .now) { () async throws(QueueError) in
                try await queue.claimCallbacks(count: count, token: token)
            }
            inFlight += callbacks?.count ?? 0
            for callback in callbacks ?? [] { Task { await deliver(callback, of: queue) } }
        }
        asked.remove(queue.name)
    }

    /// Claims no more callbacks, and waits at most that long for those being sent; another sender repeats those that
    /// were not delivered.
    func close(within grace: Duration) async {
        isClosed = true
        await rest(for: grace)
        await child.close()
        await rest(for: .milliseconds(500))
    }

    /// Waits until the outcomes of all callbacks being sent are reported to the queue.
    private func rest(for time: Duration) async {
        let deadline = ContinuousClock.now + time
        while inFlight > 0, .now < deadline { try? await Task.sleep(for: .milliseconds(20)) }
    }

    private func deliver(_ callback: Callback, of queue: JobQueue) async {
        let start = ContinuousClock.now
        let outcome = await send(callback, of: queue)
        let time = start.duration(to: .now)
        let answer = await untilAnswered(since: start) { () async throws(QueueError) in
            try await queue.finishCallback(callback, outcome, after: time)
        }
        inFlight -= 1
        metrics.serving(queue.name).called(answer)
        report(callback, outcome, answer)
        await collect(queue)
    }

    private func send(_ callback: Callback, of queue: JobQueue) async -> CallbackOutcome {
        let body: [UInt8]
        do throws(Failure) { body = try callback.body(queue: queue.name) } catch {
            return .refused(error.message, status: nil)
        }
        let headers =
            secrets.headers(id: callback.id, body: body, at: callback.takenAt)
            + (traceParent(callback, queue.name).map { ["traceparent: \($0)"] } ?? [])
        do throws(Failure) {
            return CallbackOutcome(try await child.post(Data(body), to: callback.url, headers: headers))
        } catch { return .released(error.message) }
    }

    /// The span of the job, or that of the program that pushed it if the job has none.
    private func traceParent(_ callback: Callback, _ queue: QueueName) -> String? {
        guard let job = callback.job else { return nil }
        let parent = job.traceParent.flatMap { TraceParent($0) }
        let trace = JobTrace(queue: queue.text, job: job.id, parent: parent)
        return spans?.samples(trace) == true ? trace.traceParent.text : parent?.text
    }

    /// Repeats the call until the queue replies, or until another sender may own the callbacks.
    private func untilAnswered<Answer: Sendable>(
        since start: ContinuousClock.Instant, _ call: () async throws(QueueError) -> Answer
    ) async -> Answer? {
        var failures = 0
        while start.duration(to: .now) < JobQueue.callbackTerm {
            do throws(QueueError) { return try await call() } catch {
                log.debug("claiming callbacks failed: \(error)")
                failures += 1
                guard error.isTransient, !isClosed else { return nil }
            }
            try? await Task.sleep(for: Self.backoff.delay(afterFailure: failures))
        }
        return nil
    }

    private func report(_ callback: Callback, _ outcome: CallbackOutcome, _ answer: FinishCallbackAnswer?) {
        let log = log.with("callback", callback.id).with("attempt", callback.attempt)
            .with(callback.subject.job == nil ? "group" : "job", callback.subject.job ?? callback.subject.group ?? "")
        let url = redactedURL(callback.url)
        switch (outcome, answer) {
        case (.delivered, .delivered?): log.info("callback delivered", ["url": url])
        case (.again(let reason, _, _), .waiting(let due)?):
            log.warning(
                "callback failed, retrying: \(reason)",
                ["url": url, "next": WallClock.timestamp(milliseconds: due)])
        case (.released(let reason), .waiting?): log.warning("callback released: \(reason)", ["url": url])
        case (.again(let reason, _, _), .failed?), (.refused(let reason, _), .failed?):
            log.error("callback failed: \(reason)", ["url": url])
        default: log.warning("the outcome of a callback could not be reported; it will be sent again", ["url": url])
        }
    }
}

extension CallbackOutcome {
    /// The outcome for a receiver's response: success, permanent refusal (410 and others), or a retry for everything
    /// else.
    init(_ answer: PostAnswer) {
        guard let status = answer.status else {
            let failure = answer.failure ?? Failure(.internal, "its outcome is unknown")
            self =
                failure.retryable
                ? .again(failure.message, status: nil, retryAfter: nil) : .refused(failure.message, status: nil)
            return
        }
        switch status {
        case 200..<300: self = .delivered(status: status)
        case 408, 425, 429, 300..<400, 500...:
            self = .again("the receiver responded with status \(status)", status: status, retryAfter: answer.retryAfter)
        default: self = .refused("the receiver rejects it with status \(status)", status: status)
        }
    }
}
