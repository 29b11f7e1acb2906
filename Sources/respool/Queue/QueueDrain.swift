import Jobs
import Lifecycle

/// Waits until no job of a paused queue is running.
struct QueueDrain {
    let connection: QueueConnection
    let timeout: Duration?

    func wait() async throws(CommandFailure) {
        let end = timeout.map { ContinuousClock.now + $0 }
        var area = LiveArea(.error)
        var last = ""
        while true {
            let stats = try await connection.askWithRetry { queue throws(QueueError) in try await queue.stats() }
            let jobs = Formatting.count(stats[.running], "job")
            let line = "\(jobs) still running" + (stats.workers == 0 ? ", and no worker is running" : "")
            if Terminal.error.isInteractive {
                area.clear()
                if stats[.running] > 0 { area.draw([line]) }
            } else if stats[.running] > 0, line != last {
                StandardStream.error("respool: \(line)\n")
                last = line
            }
            if stats[.running] == 0 { return }
            guard stats.isPaused else { throw .failed("the queue was resumed while \(jobs) still ran") }
            if let timeout, let end, ContinuousClock.now >= end {
                throw .failed(
                    "\(line) after \(timeout.rounded) s; the queue stays paused: resume it with `respool resume`")
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
