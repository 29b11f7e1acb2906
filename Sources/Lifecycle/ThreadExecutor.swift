@preconcurrency import Dispatch

/// A serial executor with a queue of its own, for an actor whose calls block.
///
/// Blocking on the cooperative pool stalls every other task, and a shared concurrent queue grows its threads slowly, so
/// each blocking owner has its own.
package final class ThreadExecutor: SerialExecutor {
    private let queue: DispatchQueue

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
