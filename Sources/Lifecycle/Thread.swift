import Glibc
import Synchronization

/// Starts a detached thread with every signal blocked, which runs the body.
package func startThread(_ body: @escaping @Sendable () -> Void) {
    if let error = threadError(body) { fatalError("cannot start a thread: \(error)") }
}

/// Starts a detached thread with every signal blocked, which runs the body; returns `false` if the system has none.
package func tryStartThread(_ body: @escaping @Sendable () -> Void) -> Bool { threadError(body) == nil }

/// Starts a detached thread as `tryStartThread` does, and tries again for a second.
package func startThreadWithinSecond(_ body: @escaping @Sendable () -> Void) -> Bool {
    for _ in 1..<50 {
        if tryStartThread(body) { return true }
        usleep(20_000)
    }
    return tryStartThread(body)
}

private func threadError(_ body: @escaping @Sendable () -> Void) -> Errno? {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let error = withSignalsBlocked {
        pthread_create(
            &thread, nil,
            { opaque in
                Unmanaged<Box>.fromOpaque(opaque!).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
    }
    guard error == 0 else {
        box.release()
        return Errno(rawValue: error)
    }
    pthread_detach(thread)
    return nil
}

/// Calls the body with every signal blocked; threads that it starts inherit the mask.
package func withSignalsBlocked<R>(_ body: () -> R) -> R {
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    return body()
}

/// A queue on which one thread waits while others append.
final class RequestQueue<Element: Sendable>: Sendable {
    private let pending = Mutex<[Element]>([])
    // A semaphore, because Synchronization's mutex has no condition variable.
    private let ready: UnsafeSemaphore

    init() { ready = UnsafeSemaphore() }

    func append(_ element: Element) {
        pending.withLock { $0.append(element) }
        ready.signal()
    }

    func next() -> Element {
        ready.wait()
        return pending.withLock { $0.removeFirst() }
    }
}

/// A POSIX semaphore at a fixed address, which `sem_init` requires.
private final class UnsafeSemaphore: @unchecked Sendable {
    private let pointer: UnsafeMutablePointer<sem_t>

    init() {
        pointer = .allocate(capacity: 1)
        sem_init(pointer, 0, 0)
    }

    deinit {
        sem_destroy(pointer)
        pointer.deallocate()
    }

    func signal() { sem_post(pointer) }

    func wait() {
        while sem_wait(pointer) != 0 {}
    }
}
