import Glibc
import Lifecycle
import Synchronization

/// Wakes the thread that waits for Redis, from any other thread.
///
/// A pair of sockets, because a socket that is only closed under a waiting thread may already be somebody else's.
package final class Interruption: Sendable {
    private let near: Descriptor
    private let far: Descriptor
    private let closed = Atomic(false)

    package init() {
        var numbers: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        // Without descriptors left the numbers stay -1, which poll passes over: waits then end by their time-outs alone.
        _ = socketpair(AF_UNIX, kind, 0, &numbers)
        near = Descriptor(owning: numbers[0])
        far = Descriptor(owning: numbers[1])
    }

    private var number: CInt { near.number }

    /// Whether the owner will wait no more.
    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Wakes the waiting thread, or the next one to wait.
    package func wake() {
        send(far.number, "!", 1, CInt(MSG_NOSIGNAL))
    }

    /// Wakes the waiting thread and forbids all further waiting.
    package func close() {
        closed.store(true, ordering: .releasing)
        wake()
    }

    /// Forgets the calls to `wake` up to now.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while recv(number, buffer.baseAddress, buffer.count, 0) > 0 {}
        }
    }

    /// How a wait ended.
    enum Outcome {
        case ready, timedOut, interrupted
    }

    /// Waits until the socket shows one of the events (of poll(2)), or a hang-up, which the next read or write will tell.
    func wait(for events: CShort, on socket: CInt, until deadline: Deadline) -> Outcome {
        while true {
            let rest = deadline.remaining
            guard rest > .zero else { return .timedOut }
            var sockets = [
                pollfd(fd: socket, events: events, revents: 0),
                pollfd(fd: number, events: CShort(POLLIN), revents: 0),
            ]
            // Rounded up, or the last millisecond would be spent spinning.
            let count = poll(&sockets, 2, CInt(clamping: rest.milliseconds + 1))
            if count < 0, errno != EINTR { return .ready }
            if count > 0, sockets[1].revents != 0 {
                clear()
                if isClosed || Task.isCancelled { return .interrupted }
            }
            if count > 0, sockets[0].revents != 0 { return .ready }
        }
    }

    /// Waits for nothing but the deadline.
    func pause(until deadline: Deadline) -> Outcome { wait(for: 0, on: -1, until: deadline) }
}
