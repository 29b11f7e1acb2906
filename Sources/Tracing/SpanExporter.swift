import FoundationEssentials
import JobSchema
package import Lifecycle
package import SlotIPC
import Slots

/// Sends spans to a collector in the background, through a child process. No job waits for it: what the collector does not take
/// is dropped.
package actor SpanExporter {
    private let settings: TraceSettings
    private let document: TraceDocument
    private let child: PostChild
    private let log: Log
    /// Told how many spans were sent or dropped.
    private let report: @Sendable (Int, Outcome) -> Void
    private var spans: [Span] = []
    /// Sends what was collected, once its time has come.
    private var sending: Task<Void, Never>?
    /// The wait of `sending`, which `close` and a full batch cut short.
    private var pause: Task<Void, Never>?
    private var isClosed = false
    /// Whether the time to close is over: what is left is dropped.
    private var isAborted = false
    private var lastWarning: ContinuousClock.Instant?

    /// What became of spans.
    package enum Outcome: String, Sendable {
        case exported
        /// The collector did not take them, or too many were waiting.
        case dropped
    }

    /// The most spans that wait to be sent.
    private static let maxSpans = 2048
    /// The most spans of one request.
    private static let maxBatch = 64
    /// The most bytes of one request, which a message to the child can carry.
    private static let maxBytes = 64 << 10
    private static let maxAttempts = 5
    private static let backoff = Backoff(base: .seconds(1), cap: .seconds(30))

    /// Starts no child yet. Of what the policy allows, the child gets the way to the collector alone.
    package init(
        _ settings: TraceSettings, instance: String, policy: TransferPolicy, log: Log,
        report: @escaping @Sendable (Int, Outcome) -> Void
    ) {
        self.settings = settings
        self.log = log
        self.report = report
        let own: [(name: String, value: String)] = [
            (name: "service.version", value: respoolVersion), (name: "service.instance.id", value: instance),
        ]
        document = TraceDocument(
            resource: (settings.resource + own.filter { pair in !settings.resource.contains { $0.name == pair.name } })
                .map { .text($0.name, $0.value) })
        var policy = policy
        policy.allowedOutputHosts = [settings.host]
        policy.proxy = nil
        child = PostChild(policy: policy, purpose: "spans", log: log)
    }

    /// Whether the job of a trace has spans.
    package nonisolated func samples(_ trace: JobTrace) -> Bool {
        settings.sampler.samples(trace.traceID, parent: trace.parent)
    }

    /// Sends the spans some time later.
    package nonisolated func export(_ spans: [Span]) {
        Task { await add(spans) }
    }

    /// Sends what waits, for at most that long, and drops the rest.
    package func close(within grace: Duration) async {
        isClosed = true
        pause?.cancel()
        if sending == nil, !spans.isEmpty { startSending() }
        let deadline = ContinuousClock.now + grace
        while sending != nil, .now < deadline { try? await Task.sleep(for: .milliseconds(20)) }
        isAborted = true
        await child.close()
        await sending?.value
        if !spans.isEmpty { drop(spans.count, "the worker stops") }
        spans = []
    }

    private func add(_ more: [Span]) {
        if isAborted { return drop(more.count, "the worker stops") }
        let room = Self.maxSpans - spans.count
        spans += more.prefix(room)
        if more.count > room { drop(more.count - room, "\(Self.maxSpans) spans wait to be sent") }
        if sending == nil { startSending() } else if spans.count >= Self.maxBatch { pause?.cancel() }
    }

    private func startSending() {
        sending = Task {
            if spans.count < Self.maxBatch { await wait(settings.delay) }
            while !spans.isEmpty, !isAborted { await sendBatch() }
            sending = nil
        }
    }

    /// Waits, but not while the exporter closes.
    private func wait(_ time: Duration) async {
        guard !isClosed else { return }
        let pause = Task { _ = try? await Task.sleep(for: time) }
        self.pause = pause
        await pause.value
        self.pause = nil
    }

    private func sendBatch() async {
        var batch = Array(spans.prefix(Self.maxBatch))
        var body = document.body(batch)
        while body.count > Self.maxBytes, batch.count > 1 {
            batch = Array(batch.prefix(batch.count / 2))
            body = document.body(batch)
        }
        spans.removeFirst(batch.count)
        var attempts = 0
        while true {
            attempts += 1
            let answer = await post(body)
            if let status = answer.status, (200..<300).contains(status) { return report(batch.count, .exported) }
            guard answer.isWorthRepeating, attempts < Self.maxAttempts, !isClosed else {
                return drop(batch.count, answer.reason)
            }
            await waitToRepeat(
                answer.retryAfter.map { .seconds(min($0, 30)) } ?? Self.backoff.delay(afterFailure: attempts))
        }
    }

    private func post(_ body: Data) async -> PostAnswer {
        let headers = ["Content-Type: application/json"] + settings.headers
        do throws(Failure) { return try await child.post(body, to: settings.endpoint, headers: headers) } catch {
            return PostAnswer(failure: error)
        }
    }

    /// Waits although a batch is full, because the collector asks for it.
    private func waitToRepeat(_ time: Duration) async {
        let end = ContinuousClock.now + time
        while !isClosed, .now < end { await wait(end - .now) }
    }

    private func drop(_ count: Int, _ reason: String) {
        report(count, .dropped)
        if let lastWarning, lastWarning.duration(to: .now) < .seconds(60) { return }
        lastWarning = .now
        log.warning(
            "spans are dropped: \(reason)", ["spans": count, "endpoint": redactedURL(settings.endpoint)])
    }
}

extension PostAnswer {
    /// Whether the collector may take the same spans later (OTLP, "Failures"): 429, 502, 503, 504, or no response.
    fileprivate var isWorthRepeating: Bool {
        guard let status else { return failure?.retryable ?? true }
        return [429, 502, 503, 504].contains(status)
    }

    fileprivate var reason: String {
        status.map { "the collector responded with status \($0)" } ?? failure?.message ?? "there was no response"
    }
}
