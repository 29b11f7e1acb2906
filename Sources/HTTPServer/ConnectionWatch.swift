import CMicrohttpd
import Glibc
import Lifecycle
import Synchronization

/// Limits the connections of a listener. It closes connections whose requests take too long, and the oldest ones if there are
/// too many.
///
/// libmicrohttpd only limits the time without a byte, and refuses new connections when it is full. A client that sends a byte
/// now and then could therefore hold all connections forever. Here, a new connection replaces the one that has waited longest.
final class ConnectionWatch: Sendable {
    private let connections = Mutex<[CInt: Watched]>([:])

    private struct Watched {
        /// When the current request started.
        var start: ContinuousClock.Instant
        let address: ClientAddress
    }

    private let limits: ConnectionLimits

    /// Checks the connections until it is released.
    init(requestTimeout: Duration, limits: ConnectionLimits) {
        self.limits = limits
        startThread { [weak self] in
            while let watch = self {
                watch.end(olderThan: requestTimeout)
                _ = consume watch
                usleep(useconds_t((min(requestTimeout, .seconds(4)) / 4).milliseconds * 1000))
            }
        }
    }

    /// Registers a new connection.
    func begin(_ connection: OpaquePointer?) {
        let address = ClientAddress(cmicrohttpd_client(connection))
        begin(socket: cmicrohttpd_socket(connection), of: address)
    }

    /// Registers a new connection by its socket, and closes another one if there are too many.
    func begin(socket: CInt, of address: ClientAddress) {
        connections.withLock { connections in
            connections[socket] = Watched(start: .now, address: address)
            let rivals = connections.filter { $0.value.address.isLoopback == address.isLoopback }
            let counts = rivals.values.reduce(into: [:]) { $0[$1.address, default: 0] += 1 }
            let isFull = rivals.count > (address.isLoopback ? limits.local : limits.remote)
            guard counts[address]! > limits.perAddress || isFull else { return }
            // The address with the most connections loses one, so that many connections from one address do not block others.
            let most = isFull ? counts.values.max()! : counts[address]!
            let crowd = rivals.filter { isFull ? counts[$0.value.address] == most : $0.value.address == address }
            guard let oldest = crowd.min(by: { $0.value.start < $1.value.start })?.key else { return }
            connections[oldest] = nil
            shutdown(oldest, CInt(SHUT_RDWR))
        }
    }

    /// Restarts the timeout of a connection that is ready for its next request.
    func renew(_ connection: OpaquePointer?) {
        connections.withLock { $0[cmicrohttpd_socket(connection)]?.start = .now }
    }

    /// Removes a connection that is about to be closed, or that has become a stream.
    func remove(_ connection: OpaquePointer?) {
        connections.withLock { $0[cmicrohttpd_socket(connection)] = nil }
    }

    private func end(olderThan requestTimeout: Duration) {
        // A socket is closed only after it is removed here, so under the lock its number cannot have been reused.
        connections.withLock { connections in
            for (socket, watched) in connections where watched.start.duration(to: .now) > requestTimeout {
                shutdown(socket, CInt(SHUT_RDWR))
            }
        }
    }
}
