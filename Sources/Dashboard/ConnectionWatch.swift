import CMicrohttpd
import Glibc
import Lifecycle
import Synchronization

/// The connections of a listener, of which one is ended that takes too long to say what it wants.
///
/// libmicrohttpd counts only the time without a byte: whoever sends one now and then would hold all connections for good.
final class ConnectionWatch: Sendable {
    /// Since when each connection's request is under way, by its socket.
    private let starts = Mutex<[CInt: ContinuousClock.Instant]>([:])

    /// Watches until it is released.
    init(patience: Duration) {
        startThread { [weak self] in
            while let watch = self {
                watch.end(olderThan: patience)
                _ = consume watch
                usleep(useconds_t((min(patience, .seconds(4)) / 4).milliseconds * 1000))
            }
        }
    }

    /// A connection was made, or is ready for its next request.
    func begin(_ connection: OpaquePointer?) {
        starts.withLock { $0[cmicrohttpd_socket(connection)] = .now }
    }

    /// A connection is about to be closed.
    func forget(_ connection: OpaquePointer?) {
        starts.withLock { $0[cmicrohttpd_socket(connection)] = nil }
    }

    private func end(olderThan patience: Duration) {
        // A socket is closed after it is forgotten, so that under the lock no other has its number.
        starts.withLock { starts in
            for (socket, start) in starts where start.duration(to: .now) > patience {
                shutdown(socket, CInt(SHUT_RDWR))
            }
        }
    }
}
