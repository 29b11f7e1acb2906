import Glibc

/// A value under a lock, and threads that wait for it to change; Synchronization's mutex has no condition variable. The
/// corresponding C types are `pthread_mutex_t` and `pthread_cond_t`.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    /// Takes ownership of the state, which is accessed only under the lock from now on.
    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        // Timed waits use the monotonic clock, which cannot be set.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Changes the value, and wakes all waiting threads to check it again, unless no thread waits for such a change.
    package func change<Answer>(wakes: Bool = true, _ body: (inout State) -> Answer) -> Answer {
        pthread_mutex_lock(mutex)
        defer {
            if wakes { pthread_cond_broadcast(condition) }
            pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Reads the value.
    package func read<Answer>(_ body: (State) -> Answer) -> Answer {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(state)
    }

    /// Waits until the body returns a value. Other waiting threads are woken to check the changes that the body made.
    package func wait<Answer>(for body: (inout State) -> Answer?) -> Answer {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        while true {
            if let answer = body(&state) { return answer }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits until the body returns a value, for at most that time; `nil` if it has returned none by then.
    package func wait<Answer>(atMost time: Duration, for body: (inout State) -> Answer?) -> Answer? {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = time.components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        while true {
            if let answer = body(&state) { return answer }
            if pthread_cond_timedwait(condition, mutex, &end) != 0 { return body(&state) }
        }
    }
}
