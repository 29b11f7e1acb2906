@preconcurrency import Dispatch
import Synchronization

/// Makes calls that may not return, such as of a file system that does not respond, one after the other on a separate thread. Its
/// callers wait for a limited time.
package final class BoundedCalls: Sendable {
    private let queue: DispatchQueue
    /// How many calls have run out of time and not returned.
    private let overdue = Atomic(0)

    /// The label names the queue in debuggers and crash reports.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// The value of the body; `nil` if it does not return in time. While an earlier call has not returned, the answer is `nil` at
    /// once, and the body is not called.
    package func value<Value: Sendable>(
        within timeout: Duration, of body: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard overdue.load(ordering: .acquiring) == 0 else { return nil }
        return await withCheckedContinuation { continuation in
            let call = Call<Value>(continuation)
            let alarm = Task {
                guard (try? await Task.sleep(for: timeout)) != nil else { return }
                call.expire(countedIn: self)
            }
            queue.async {
                let value = body()
                alarm.cancel()
                call.finish(value, countedIn: self)
            }
        }
    }

    /// A call, and the caller that waits for it.
    private final class Call<Value: Sendable>: Sendable {
        private let state: Mutex<State>

        private struct State {
            /// `nil` once the caller has an answer.
            var caller: CheckedContinuation<Value?, Never>?
            var isOverdue = false
        }

        init(_ caller: CheckedContinuation<Value?, Never>) { state = Mutex(State(caller: caller)) }

        func expire(countedIn calls: BoundedCalls) {
            let caller = state.withLock { state in
                guard let caller = state.caller.take() else { return CheckedContinuation<Value?, Never>?.none }
                state.isOverdue = true
                calls.overdue.add(1, ordering: .acquiringAndReleasing)
                return caller
            }
            caller?.resume(returning: nil)
        }

        func finish(_ value: Value, countedIn calls: BoundedCalls) {
            let caller = state.withLock { state in
                if state.isOverdue { calls.overdue.subtract(1, ordering: .acquiringAndReleasing) }
                return state.caller.take()
            }
            caller?.resume(returning: value)
        }
    }
}
