import JobSchema
import Jobs
import Lifecycle
import SlotIPC
import Synchronization
import Text
import Tracing

/// The spans of one attempt of a job: `queued` and `attempt`, in which `fetch`, `convert` and `publish` are; and `job`, if the job
/// ends with it.
final class AttemptTrace: Sendable {
    private let job: ClaimedJob
    private let queue: QueueName
    private let trace: JobTrace
    private let worker: String
    private let exporter: SpanExporter
    private let wait: Duration?
    /// Nanoseconds since 1970.
    private let start = WallClock.nanoseconds()
    private let phases = Mutex<[(phase: Phase, start: Int64)]>([])

    /// What a worker does for a job, one after the other.
    enum Phase: String, Sendable {
        case convert, publish
    }

    /// `nil` if the job has no spans.
    init?(
        _ job: ClaimedJob, of queue: QueueName, after wait: Duration?, worker: String, exporter: SpanExporter?
    ) {
        guard let exporter else { return nil }
        let trace = JobTrace(queue: queue.text, job: job.id, parent: job.traceParent)
        guard exporter.samples(trace) else { return nil }
        (self.job, self.queue, self.trace, self.wait) = (job, queue, trace, wait)
        (self.worker, self.exporter) = (worker, exporter)
    }

    var traceID: String { trace.traceID }

    /// Marks the begin of a phase, and the end of the one before.
    func enter(_ phase: Phase) {
        phases.withLock { $0.append((phase: phase, start: WallClock.nanoseconds())) }
    }

    /// Exports the spans of an attempt that ended at a time in nanoseconds since 1970. No outcome means that another worker has the job.
    func end(_ outcome: Outcome?, _ answer: FinishAnswer?, at end: Int64, source: SourceUse?) {
        let failure = outcome?.failure
        var spans: [Span] = []
        if let wait {
            spans.append(
                Span("queued", of: trace, parent: trace.spanID, from: start - wait.nanoseconds, to: start))
        }
        let attempt = Span(
            "attempt", of: trace, parent: trace.spanID, from: start, to: end,
            attributes: attributes(outcome?.name ?? "lost", failure) + [
                .integer("respool.attempt", Int64(job.attempt)), .text("respool.worker", worker),
            ], failure: failure)
        spans.append(attempt)
        if let fetched = source?.fetched {
            // The times are from another process.
            let range = fetched.clamped(to: start...max(start, end))
            spans.append(
                Span(
                    "fetch", of: trace, parent: attempt.spanID, from: range.lowerBound, to: range.upperBound,
                    kind: .client, attributes: [.integer("respool.source.bytes", source?.bytes ?? 0)]))
        }
        spans += steps(in: attempt, until: end, failure)
        if case .acknowledged(let state, _) = answer, state.isTerminal {
            let final = state == .completed ? nil : failure
            spans.append(
                Span(
                    "job", of: trace, id: trace.spanID, parent: trace.parent?.spanID,
                    from: job.createdAt * 1_000_000, to: end, kind: .consumer,
                    attributes: attributes(state.rawValue, final), failure: final))
        }
        exporter.export(spans)
    }

    /// The phases; the last one has the attempt's failure.
    private func steps(in attempt: Span, until end: Int64, _ failure: Failure?) -> [Span] {
        let phases = phases.withLock { $0 }
        return phases.indices.map { index in
            let isLast = index == phases.count - 1
            return Span(
                phases[index].phase.rawValue, of: trace, parent: attempt.spanID, from: phases[index].start,
                to: isLast ? end : phases[index + 1].start, failure: isLast ? failure : nil)
        }
    }

    private func attributes(_ outcome: String, _ failure: Failure?) -> [Span.Attribute] {
        [
            .text("respool.queue", queue.text), .text("respool.job", job.id), .text("respool.outcome", outcome),
            .text("respool.source", redactedURL(job.fields["source"] ?? "").bounded(utf8Bytes: 256)),
        ] + (JobRecord.format(job.fields).map { [.text("respool.format", $0.bounded(utf8Bytes: 64))] } ?? [])
            + (failure.map { [.text("error.type", $0.code.rawValue)] } ?? [])
    }
}

extension ClaimedJob {
    /// The trace that the job belongs to.
    var traceParent: TraceParent? { fields["traceparent"].flatMap { TraceParent($0) } }
}
