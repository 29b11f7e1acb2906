import Glibc
import Lifecycle
import Synchronization

/// Wakes the thread that waits for Redis, from any other thread.
///
/// Uses a pair of sockets, because the number of a socket that is closed while a thread waits on it can be reused for
/// another file.
package final class Interruption: Sendable {
    private let near: Descriptor
    private let far: Descriptor
    private let closed = Atomic(false)

    /// Never fails: without free descriptors, a wait ends only by its timeout.
    package init() {
        var numbers: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        // Without free descriptors the numbers stay -1, which poll(2) ignores: waits then end only by their timeouts.
        _ = socketpair(AF_UNIX, kind, 0, &numbers)
        near = Descriptor(owning: numbers[0])
        far = Descriptor(owning: numbers[1])
    }

    private var number: CInt { near.number }

    /// Whether the owner will not wait again.
    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Wakes the waiting thread, or the next one to wait.
    package func wake() {
        send(far.number, "!", 1, CInt(MSG_NOSIGNAL))
    }

    /// Wakes the waiting thread and ends all later waits at once.
    package func close() {
        closed.store(true, ordering: .releasing)
        wake()
    }

    /// Discards the previous calls of `wake`.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while recv(number, buffer.baseAddress, buffer.count, 0) > 0 {}
        }
    }

    /// How a wait ended.
    enum Outcome {
        case ready, timedOut, interrupted
    }

    /// Waits for one of the events (of poll(2)) on the socket, or for a hang-up, which the next read or write reports.
    func wait(for events: CShort, on socket: CInt, until deadline: Deadline) -> Outcome {
        while true {
            let rest = deadline.remaining
            guard rest > .zero else { return .timedOut }
            var sockets = [
                pollfd(fd: socket, events: events, revents: 0),
                pollfd(fd: number, events: CShort(POLLIN), revents: 0),
            ]
            // Rounded up; otherwise the last millisecond would be a busy loop.
            let count = poll(&sockets, 2, CInt(clamping: rest.milliseconds + 1))
            if count < 0, errno != EINTR { return .ready }
            if count > 0, sockets[1].revents != 0 {
                clear()
                if isClosed || Task.isCancelled { return .interrupted }
            }
            if count > 0, sockets[0].revents != 0 { return .ready }
        }
    }

    /// Waits only for the deadline.
    func pause(until deadline: Deadline) -> Outcome { wait(for: 0, on: -1, until: deadline) }
}
