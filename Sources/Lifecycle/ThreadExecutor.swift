@preconcurrency import Dispatch

/// A serial executor with a separate queue, for an actor whose calls block.
///
/// Blocking on the cooperative pool stalls every other task, and a shared concurrent queue adds threads slowly, so each
/// blocking actor has a separate queue.
package final class ThreadExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// The label names the queue in debuggers and crash reports.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
