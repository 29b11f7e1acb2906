import Glibc
import JobSchema
import Jobs
package import Lifecycle
import MediaTypes
import SlotIPC
import Tracing

/// The metrics of a worker; each is named only here.
package struct WorkerMetrics: Sendable {
    private let metrics: Metrics
    private let process: ProcessMetrics
    /// The label of what is counted for a queue.
    private var queue = ""

    /// Registers nothing yet; a metric appears once it has a value.
    package init(_ metrics: Metrics) {
        self.metrics = metrics
        process = ProcessMetrics(metrics)
    }

    /// The metrics of one of the worker's queues.
    func serving(_ queue: QueueName) -> WorkerMetrics {
        var metrics = self
        metrics.queue = queue.text
        return metrics
    }

    func started(slots: Int) {
        metrics.gauge(
            "respool_build_info", help: "The version of this worker.", labels: ["version": respoolVersion], 1)
        metrics.gauge("respool_slots", help: "Number of slots.", Double(slots))
        running(0, prefetched: 0)
    }

    /// Measures the process and the file system of its spools; called before each scrape.
    package func measure() { process.measure() }

    /// Records the bytes of the spool's file system.
    func measured(spool: (free: Double, all: Double)) {
        metrics.gauge(
            "respool_spool_free_bytes", help: "Free bytes of the file system of the spool folder.", spool.free)
        metrics.gauge("respool_spool_size_bytes", help: "Size of the file system of the spool folder.", spool.all)
    }

    func running(_ count: Int, prefetched: Int) {
        metrics.gauge("respool_jobs_running", help: "Jobs that are converted or published.", Double(count))
        metrics.gauge("respool_jobs_prefetched", help: "Jobs that were claimed ahead.", Double(prefetched))
    }

    /// Records the end of an attempt; `outcome` is the one reported to the queue, `code` is the error's or empty.
    func ended(_ outcome: String, code: String, seconds: Double) {
        metrics.count(
            "respool_attempts_total", help: "Finished attempts, by outcome and error code.",
            labels: ["queue": queue, "outcome": outcome, "code": code])
        metrics.observe(
            "respool_attempt_seconds", help: "Time from claim to outcome, by outcome.",
            labels: ["queue": queue, "outcome": outcome], seconds)
    }

    /// Records the state of a job after an attempt.
    func moved(to state: JobState, code: String) {
        if state.isTerminal {
            metrics.count(
                "respool_jobs_total", help: "Jobs that ended in this worker, by state and error code.",
                labels: ["queue": queue, "state": state.rawValue, "code": state == .failed ? code : ""])
        } else if state == .delayed {
            metrics.count(
                "respool_retries_total", help: "Failed attempts after which the job runs again, by error code.",
                labels: ["queue": queue, "code": code])
        }
    }

    /// Records how long a job was ready before it was claimed.
    func waited(seconds: Double) {
        metrics.observe(
            "respool_waiting_seconds", help: "Time from when a job became ready to its claim.",
            labels: ["queue": queue], seconds)
    }

    func converted(seconds: Double, outputs: [OutputReport]) {
        metrics.observe(
            "respool_conversion_seconds", help: "Duration of successful conversions.", labels: ["queue": queue], seconds
        )
        let sounds = outputs.filter { AudioFormat.named($0.format)?.picture == nil }
        if let longest = sounds.map(\.duration).max(), longest > 0, seconds > 0 {
            metrics.observe(
                "respool_conversion_speed_ratio", help: "Seconds of audio per second of a successful conversion.",
                labels: ["queue": queue], bounds: Metrics.speedBounds, longest / seconds)
        }
        for output in sounds {
            metrics.count(
                "respool_audio_seconds_total", help: "Audio written, by format.",
                labels: ["queue": queue, "format": output.format], by: output.duration)
        }
        for output in outputs {
            metrics.count(
                "respool_output_bytes_total", help: "Bytes written, by format.",
                labels: ["queue": queue, "format": output.format], by: Double(output.bytes + (output.parts?.bytes ?? 0))
            )
        }
    }

    /// Records what a job took of its source.
    func read(_ use: SourceUse) {
        metrics.count(
            "respool_source_bytes_total", help: "Bytes of sources: the sizes of files, and what servers sent.",
            labels: ["queue": queue, "location": use.fetchSeconds == nil ? "file" : "server"],
            by: Double(max(0, use.bytes)))
        if let seconds = use.fetchSeconds {
            metrics.observe(
                "respool_fetch_seconds", help: "Time in which requests for a source ran.", labels: ["queue": queue],
                seconds)
        }
        if let isCached = use.isCached {
            metrics.count(
                "respool_cache_lookups_total", help: "Sources that were looked up in the cache.",
                labels: ["queue": queue, "result": isCached ? "hit" : "miss"])
        }
    }

    /// Records that a pair of children ended prematurely.
    func lostChildren(_ reason: String) {
        metrics.count(
            "respool_children_replaced_total", help: "Pairs of child processes that crashed or were killed.",
            labels: ["queue": queue, "reason": reason])
    }

    /// Records an expired lease of a lost worker.
    func reaped() {
        metrics.count(
            "respool_leases_reaped_total", help: "Expired leases of lost workers that this worker reaped.",
            labels: ["queue": queue])
    }

    func answered(_ operation: String, seconds: Double) {
        metrics.observe(
            "respool_redis_seconds", help: "Response time of Redis.",
            labels: ["queue": queue, "operation": operation], bounds: Metrics.replyBounds, seconds)
    }

    /// Records that too few replicas acknowledged a publication in time.
    func unacknowledged() {
        metrics.count(
            "respool_unacknowledged_total", help: "Publications that too few replicas acknowledged within the timeout.",
            labels: ["queue": queue])
    }

    /// Records the end of an attempt of a callback; `nil` if it could not be reported to the queue.
    func called(_ answer: FinishCallbackAnswer?) {
        let outcome =
            switch answer {
            case .delivered: "delivered"
            case .failed: "failed"
            case .waiting: "retried"
            case .stale, nil: "lost"
            }
        metrics.count(
            "respool_callbacks_total", help: "Finished callback attempts, by outcome.",
            labels: ["queue": queue, "outcome": outcome])
    }

    /// Records what became of spans of traces.
    func exported(spans: Int, _ outcome: SpanExporter.Outcome) {
        metrics.count(
            "respool_spans_total", help: "Spans of traces, by what became of them.",
            labels: ["outcome": outcome.rawValue], by: Double(spans))
    }

    func outage() {
        metrics.count("respool_redis_outages_total", help: "Outages of Redis.", labels: ["queue": queue])
    }

    func resent(_ count: Int) {
        metrics.count(
            "respool_outcomes_resent_total", help: "Outcomes reported again after an outage.", labels: ["queue": queue],
            by: Double(count))
    }
}
