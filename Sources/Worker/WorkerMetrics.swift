import JobSchema
import Jobs
package import Lifecycle

/// The metrics of a worker; each is named only here.
package struct WorkerMetrics: Sendable {
    private let metrics: Metrics

    /// Registers nothing yet; a metric appears once it has a value.
    package init(_ metrics: Metrics) { self.metrics = metrics }

    func started(slots: Int) {
        metrics.gauge(
            "respool_build_info", help: "The version of this worker.", labels: ["version": respoolVersion], 1)
        metrics.gauge("respool_slots", help: "Number of slots.", Double(slots))
        running(0, prefetched: 0)
    }

    func running(_ count: Int, prefetched: Int) {
        metrics.gauge("respool_jobs_running", help: "Jobs that are converted or published.", Double(count))
        metrics.gauge("respool_jobs_prefetched", help: "Jobs that were claimed ahead.", Double(prefetched))
    }

    /// Records the end of an attempt; `outcome` is the one reported to the queue, `code` is the error's or empty.
    func ended(_ outcome: String, code: String, seconds: Double) {
        metrics.count(
            "respool_jobs_total", help: "Finished attempts, by outcome and error code.",
            labels: ["outcome": outcome, "code": code])
        metrics.observe(
            "respool_job_seconds", help: "Time from claim to outcome, by outcome.", labels: ["outcome": outcome],
            seconds)
    }

    func converted(seconds: Double, outputs: [OutputReport]) {
        metrics.observe("respool_conversion_seconds", help: "Duration of successful conversions.", seconds)
        for output in outputs {
            metrics.count(
                "respool_audio_seconds_total", help: "Audio written, by format.", labels: ["format": output.format],
                by: output.duration)
            metrics.count(
                "respool_output_bytes_total", help: "Bytes written, by format.", labels: ["format": output.format],
                by: Double(output.bytes))
        }
    }

    /// Records that a pair of children ended prematurely.
    func lostChildren(_ reason: String) {
        metrics.count(
            "respool_children_replaced_total", help: "Pairs of child processes that crashed or were killed.",
            labels: ["reason": reason])
    }

    /// Records an expired lease of a lost worker.
    func reaped() {
        metrics.count("respool_leases_reaped_total", help: "Expired leases of lost workers that this worker reaped.")
    }

    func answered(_ operation: String, seconds: Double) {
        metrics.observe(
            "respool_redis_seconds", help: "Response time of Redis.", labels: ["operation": operation], seconds)
    }

    /// Records that too few replicas acknowledged a publication in time.
    func unacknowledged() {
        metrics.count(
            "respool_unacknowledged_total", help: "Publications that too few replicas acknowledged within the timeout.")
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
            "respool_callbacks_total", help: "Finished callback attempts, by outcome.", labels: ["outcome": outcome])
    }

    func outage() {
        metrics.count("respool_redis_outages_total", help: "Outages of Redis.")
    }

    func resent(_ count: Int) {
        metrics.count(
            "respool_outcomes_resent_total", help: "Outcomes reported again after an outage.", by: Double(count))
    }
}
