import CMicrohttpd
import Glibc
import Lifecycle
import Synchronization

/// The connections of a listener, of which those are ended that take too long to say what they want, or that are too many.
///
/// libmicrohttpd counts only the time without a byte, and turns newcomers away when it is full: whoever sends one now and then
/// would hold all connections for good. Here a newcomer takes the place of the connection that has waited longest.
final class ConnectionWatch: Sendable {
    private let connections = Mutex<[CInt: Watched]>([:])

    private struct Watched {
        /// Since when its request is under way.
        var start: ContinuousClock.Instant
        let address: ClientAddress
    }

    /// Connections of one address.
    static let maxPerAddress = 16
    /// Connections of all other machines, and those of this one, which have places of their own.
    static let (maxRemote, maxLocal) = (64, 32)

    /// Watches until it is released.
    init(requestTimeout: Duration) {
        startThread { [weak self] in
            while let watch = self {
                watch.end(olderThan: requestTimeout)
                _ = consume watch
                usleep(useconds_t((min(requestTimeout, .seconds(4)) / 4).milliseconds * 1000))
            }
        }
    }

    /// A connection was made.
    func begin(_ connection: OpaquePointer?) {
        let address = ClientAddress(cmicrohttpd_client(connection))
        begin(socket: cmicrohttpd_socket(connection), of: address)
    }

    /// Likewise, by its socket; ends another where there are too many.
    func begin(socket: CInt, of address: ClientAddress) {
        connections.withLock { connections in
            connections[socket] = Watched(start: .now, address: address)
            let rivals = connections.filter { $0.value.address.isLoopback == address.isLoopback }
            let counts = rivals.values.reduce(into: [:]) { $0[$1.address, default: 0] += 1 }
            let isFull = rivals.count > (address.isLoopback ? Self.maxLocal : Self.maxRemote)
            guard counts[address]! > Self.maxPerAddress || isFull else { return }
            // Who has most gives way, so that a crowd from one place keeps nobody else away.
            let most = isFull ? counts.values.max()! : counts[address]!
            let crowd = rivals.filter { isFull ? counts[$0.value.address] == most : $0.value.address == address }
            guard let oldest = crowd.min(by: { $0.value.start < $1.value.start })?.key else { return }
            connections[oldest] = nil
            shutdown(oldest, CInt(SHUT_RDWR))
        }
    }

    /// A connection is ready for its next request.
    func renew(_ connection: OpaquePointer?) {
        connections.withLock { $0[cmicrohttpd_socket(connection)]?.start = .now }
    }

    /// A connection is about to be closed.
    func remove(_ connection: OpaquePointer?) {
        connections.withLock { $0[cmicrohttpd_socket(connection)] = nil }
    }

    private func end(olderThan requestTimeout: Duration) {
        // A socket is closed after it is forgotten, so that under the lock no other has its number.
        connections.withLock { connections in
            for (socket, watched) in connections where watched.start.duration(to: .now) > requestTimeout {
                shutdown(socket, CInt(SHUT_RDWR))
            }
        }
    }
}
