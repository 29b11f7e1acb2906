package import Jobs
import Lifecycle
import Synchronization

/// Whether this worker is running, and when Redis last replied to it.
package final class WorkerHealth: Sendable {
    private let state: Mutex<State>
    private let log: Log
    private let metrics: WorkerMetrics
    private let hasSeveralQueues: Bool

    private struct State {
        var lastTick: ContinuousClock.Instant
        var lastAnswer: ContinuousClock.Instant?
        /// Since when each queue's server has not replied; in a cluster, queues can be on different nodes.
        var outages: [QueueName: ContinuousClock.Instant] = [:]
        var isDraining = false
        /// Why the host cannot run jobs.
        var hostProblem: String?
        /// Whether the slots were started.
        var hasStarted = false
        var jobs = 0
    }

    /// How late the beat may be before the worker is considered stuck.
    package static let longestSilence: Duration = .seconds(15)

    init(log: Log, metrics: WorkerMetrics, hasSeveralQueues: Bool) {
        self.log = log
        self.hasSeveralQueues = hasSeveralQueues
        self.metrics = metrics
        state = Mutex(State(lastTick: .now))
    }

    /// Whether the worker's own loops are running.
    package var isAlive: Bool { state.withLock { $0.lastTick.duration(to: .now) < Self.longestSilence } }

    /// Whether the worker takes jobs: Redis replied recently, the worker is not draining, and the host can run jobs.
    package func isReady(within longest: Duration = longestSilence) -> Bool {
        guard let silence, silentQueues(for: longest).isEmpty else { return false }
        return silence < longest && state.withLock { !$0.isDraining && $0.hostProblem == nil }
    }

    /// Why the host cannot run jobs; `nil` if it can.
    package var hostProblem: String? { state.withLock { $0.hostProblem } }

    /// Records whether the host can run jobs; logs each change.
    func foundHost(_ problem: String?) {
        let former = state.withLock { state in
            defer { state.hostProblem = problem }
            return state.hostProblem
        }
        guard problem != former else { return }
        if let problem {
            log.error("no jobs are claimed: \(problem)")
        } else {
            log.info("jobs are claimed again")
        }
    }

    /// The time since the last reply of Redis; `nil` before the first one.
    package var silence: Duration? {
        state.withLock { state in state.lastAnswer.map { $0.duration(to: .now) } }
    }

    /// The queues whose server has not replied for at least that long.
    package func silentQueues(for silence: Duration = longestSilence) -> [QueueName] {
        let silent = state.withLock { $0.outages.filter { $0.value.duration(to: .now) >= silence } }
        return silent.keys.sorted { $0.text < $1.text }
    }

    /// The state in one line, for service managers.
    package var summary: String {
        let (jobs, isDraining, hasStarted) = state.withLock { ($0.jobs, $0.isDraining, $0.hasStarted) }
        let count = jobs == 1 ? "1 job" : "\(jobs) jobs"
        let activity = isDraining ? "draining \(count)" : hasStarted ? "running \(count)" : "starting"
        if hostProblem != nil { return "\(activity); the host cannot run jobs" }
        guard let silence else { return "\(activity); no reply from Redis yet" }
        let responds = silence < Self.longestSilence && silentQueues().isEmpty
        return responds ? activity : "\(activity); Redis does not respond"
    }

    func started() { state.withLock { $0.hasStarted = true } }

    func runs(_ jobs: Int) { state.withLock { $0.jobs = jobs } }

    func tick() { state.withLock { $0.lastTick = .now } }

    func drains() { state.withLock { $0.isDraining = true } }

    /// Records a reply; returns true if it ended an outage.
    @discardableResult
    func answered(_ queue: QueueName) -> Bool {
        let outage = state.withLock { state in
            state.lastAnswer = .now
            return state.outages.removeValue(forKey: queue)
        }
        guard let outage else { return false }
        log(of: queue).info("Redis is reachable again", ["seconds": outage.duration(to: .now).rounded])
        return true
    }

    /// Records that Redis did not reply; logs a warning once per outage.
    func failed(_ operation: String, _ queue: QueueName, _ error: some Error & CustomStringConvertible) {
        let isNew = state.withLock { state in
            let isNew = state.outages[queue] == nil
            if isNew { state.outages[queue] = .now }
            return isNew
        }
        guard isNew else { return log(of: queue).debug("\(operation) failed: \(error)") }
        metrics.serving(queue).outage()
        log(of: queue).warning("\(operation) failed, retrying; conversions continue: \(error)")
    }

    private func log(of queue: QueueName) -> Log { hasSeveralQueues ? log.with("queue", queue.text) : log }
}
