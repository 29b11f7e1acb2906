import JobSchema
package import Jobs
import Lifecycle

/// The metrics of a server of the HTTP API; each is named only here.
package final class ServerMetrics: Sendable {
    private let metrics = Metrics()
    private let process: ProcessMetrics
    private let samplers: [QueueSampler]
    private let hubs: [EventHub]

    package init(queues: [JobQueue], hubs: [EventHub]) {
        samplers = queues.map(QueueSampler.init)
        self.hubs = hubs
        process = ProcessMetrics(metrics)
        metrics.gauge(
            "respool_build_info", help: "The version of this program.", labels: ["version": respoolVersion], 1)
    }

    /// Reads the queues once: their counters begin at 0 here.
    package func start() async { for sampler in samplers { _ = await sampler.sample() } }

    /// Records a response; `route` is the path with its parameters in braces.
    func answered(method: String, route: String, status: Int, seconds: Double) {
        metrics.count(
            "respool_http_requests_total", help: "Responses to requests, by class of status.",
            labels: ["method": method, "route": route, "status": "\(status / 100)xx"])
        metrics.observe(
            "respool_http_request_seconds", help: "Time from the headers of a request to its response.",
            labels: ["method": method, "route": route], bounds: Metrics.replyBounds, seconds)
    }

    /// All metrics, of one queue or of all.
    package func text(queue name: String?) async -> String {
        let samplers = samplers.filter { name == nil || $0.queue.name.text == name }
        let samples = await withTaskGroup(of: (String, QueueSample?).self) { group in
            for sampler in samplers { group.addTask { (sampler.queue.name.text, await sampler.sample()) } }
            return await group.reduce(into: [(name: String, sample: QueueSample?)]()) { $0.append($1) }
        }
        // The metrics of queues are made anew each time, so that none is left of a queue that does not respond, or is not shown.
        let queues = QueueMetrics(metrics: Metrics())
        for (name, sample) in samples { queues.record(name, sample) }
        for hub in hubs where name == nil || hub.queue.name.text == name {
            queues.listeners(hub.queue.name.text, hub.listenerCount)
        }
        process.measure()
        return queues.metrics.render() + metrics.render()
    }
}

/// The metrics of queues at one moment.
private struct QueueMetrics {
    let metrics: Metrics

    func record(_ queue: String, _ sample: QueueSample?) {
        metrics.gauge(
            "respool_queue_up", help: "1 if Redis responds for the queue.", labels: ["queue": queue],
            sample == nil ? 0 : 1)
        guard let sample else { return }
        jobs(queue, sample)
        workers(queue, sample.stats)
        totals(queue, sample.totals)
        metrics.gauge(
            "respool_queue_callbacks", help: "Unfinished callbacks.", labels: ["queue": queue],
            Double(sample.sizes.callbacks))
        metrics.gauge(
            "respool_queue_schedules", help: "Schedules.", labels: ["queue": queue], Double(sample.sizes.schedules))
    }

    func listeners(_ queue: String, _ count: Int) {
        metrics.gauge(
            "respool_event_listeners", help: "Open streams of events.", labels: ["queue": queue], Double(count))
    }

    private func jobs(_ queue: String, _ sample: QueueSample) {
        for state in JobState.allCases {
            metrics.gauge(
                "respool_queue_jobs", help: "Jobs that Redis has, by state.",
                labels: ["queue": queue, "state": state.rawValue], Double(sample.stats[state]))
        }
        metrics.gauge(
            "respool_queue_parked_jobs", help: "Waiting jobs whose limit is reached.", labels: ["queue": queue],
            Double(sample.sizes.parked))
        metrics.gauge(
            "respool_queue_live_jobs", help: "Running jobs, and waiting ones that may run.", labels: ["queue": queue],
            Double(sample.sizes.live))
        metrics.gauge(
            "respool_queue_oldest_waiting_seconds", help: "Time since the oldest job that may run became ready.",
            labels: ["queue": queue], Double(sample.stats.oldestWaiting ?? 0) / 1000)
        metrics.gauge(
            "respool_queue_paused", help: "1 if the queue is paused.", labels: ["queue": queue],
            sample.stats.isPaused ? 1 : 0)
    }

    private func workers(_ queue: String, _ stats: QueueStats) {
        metrics.gauge(
            "respool_queue_workers", help: "Workers that sent a heartbeat lately.", labels: ["queue": queue],
            Double(stats.workers))
        metrics.gauge(
            "respool_queue_slots", help: "Slots of those workers.", labels: ["queue": queue], Double(stats.slots))
    }

    private func totals(_ queue: String, _ counts: JobCounts) {
        metrics.count(
            "respool_queue_pushed_total", help: "Jobs that were admitted.", labels: ["queue": queue],
            by: Double(counts.pushed))
        for (state, count) in [
            (JobState.completed, counts.completed), (.failed, counts.failed), (.cancelled, counts.cancelled),
        ] {
            metrics.count(
                "respool_queue_ended_total", help: "Jobs that ended, by state.",
                labels: ["queue": queue, "state": state.rawValue], by: Double(count))
        }
        metrics.count(
            "respool_queue_retries_total", help: "Failed attempts after which the job runs again.",
            labels: ["queue": queue], by: Double(counts.retries))
        metrics.count(
            "respool_queue_crashes_total", help: "Lost leases, and children that died.", labels: ["queue": queue],
            by: Double(counts.crashes))
    }
}
