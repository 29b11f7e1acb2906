import Jobs
import Lifecycle

/// Logs the lost workers whose expired leases this worker found.
struct LostLeaseLog: Sendable {
    let metrics: WorkerMetrics
    let log: Log

    func report(_ leases: [LostLease]) {
        for lease in leases {
            metrics.reaped()
            let log = log.with("job", lease.job).with("attempt", lease.attempt)
            log.warning(
                "the worker \(lease.worker) was lost: its lease expired without a heartbeat",
                ["worker": lease.worker, "state": lease.state.rawValue])
        }
    }
}
