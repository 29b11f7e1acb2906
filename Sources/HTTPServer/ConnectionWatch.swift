import CMicrohttpd
import Glibc
import Lifecycle
import Synchronization

/// Limits the connections of a listener. It closes connections whose requests take too long, and the oldest ones if there are
/// too many.
///
/// libmicrohttpd only limits the time without a byte, and refuses new connections when it is full. A client that sends a byte
/// now and then could therefore hold all connections forever. Here, a new connection replaces the one that has waited longest. It
/// replaces none whose request is being processed: if there are only such, the new one gets status 503.
final class ConnectionWatch: Sendable {
    private let state = Mutex(State())

    private struct State {
        var connections: [CInt: Watched] = [:]
        /// Connections over which a file is sent or received.
        var transfers: [CInt: Transfer] = [:]
    }

    private struct Watched {
        /// The time of the current request.
        var time = ClientTime()
        let address: ClientAddress
        var phase = Phase.idle
    }

    /// What a connection does. Those that do less are closed first.
    enum Phase: Int {
        /// It waits for the headers of a request.
        case idle
        /// The body of a request is read, or its response is sent.
        case transferring
        /// A request is being processed.
        case processing
        /// Its request is refused, because there are too many.
        case refused
    }

    private struct Transfer {
        let address: ClientAddress
        /// The time since the rate was checked last, and the number of bytes until then.
        var time = ClientTime()
        var bytes: Int64 = 0
        /// The number of bytes that this process received, or handed to the kernel.
        var counted: Int64 = 0

        /// The number of bytes so far. Only TCP counts what has reached the client.
        func total(_ socket: CInt) -> Int64 {
            let bytes = cmicrohttpd_transferred(socket)
            return bytes >= 0 ? bytes : counted
        }
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
        state.withLock { state in
            let rivals = state.connections.filter {
                $0.value.phase != .refused && $0.value.address.isLoopback == address.isLoopback
            }
            let counts = rivals.values.reduce(into: [address: 1]) { $0[$1.address, default: 0] += 1 }
            let isFull = rivals.count >= (address.isLoopback ? limits.local : limits.remote)
            state.connections[socket] = Watched(address: address)
            guard counts[address]! > limits.perAddress || isFull else { return }
            let crowd = rivals.filter { $0.value.phase != .processing && (isFull || $0.value.address == address) }
            // The address with the most connections loses one, so that many connections from one address do not block others.
            let most = crowd.values.map { counts[$0.address]! }.max()
            let victim = crowd.filter { counts[$0.value.address] == most }
                .min { ($0.value.phase.rawValue, $0.value.time.start) < ($1.value.phase.rawValue, $1.value.time.start) }
            if let victim {
                state.connections[victim.key] = nil
                shutdown(victim.key, CInt(SHUT_RDWR))
            } else {
                // Its request is refused, unless it is a health check. Of too many such connections, the oldest one is closed.
                let refused = state.connections.filter { $0.value.phase == .refused }
                if refused.count >= limits.local + limits.remote,
                    let oldest = refused.min(by: { $0.value.time.start < $1.value.time.start })
                {
                    state.connections[oldest.key] = nil
                    shutdown(oldest.key, CInt(SHUT_RDWR))
                }
                state.connections[socket]!.phase = .refused
            }
        }
    }

    /// Notes what a connection does now; false if its request is refused.
    @discardableResult
    func enter(_ phase: Phase, _ connection: OpaquePointer) -> Bool {
        let socket = cmicrohttpd_socket(connection)
        return state.withLock { state in
            guard state.connections[socket]?.phase != .refused else { return false }
            state.connections[socket]?.phase = phase
            return true
        }
    }

    /// Restarts the timeout of a connection that is ready for its next request.
    func renew(_ connection: OpaquePointer?) {
        let socket = cmicrohttpd_socket(connection)
        state.withLock { state in
            if let transfer = state.transfers.removeValue(forKey: socket) {
                state.connections[socket] = Watched(address: transfer.address)
            }
            state.connections[socket]?.time = ClientTime()
            state.connections[socket]?.phase = .idle
        }
    }

    /// Replaces the timeout of a connection by a minimum rate while a file is sent or received over it; false if there are too
    /// many of these.
    func beginTransfer(_ connection: OpaquePointer?) -> Bool {
        let socket = cmicrohttpd_socket(connection)
        return state.withLock { state in
            guard let watched = state.connections[socket] else { return state.transfers[socket] != nil }
            let own = state.transfers.values.count { $0.address == watched.address }
            guard own < limits.transfersPerAddress, state.transfers.count < limits.transfers else { return false }
            state.connections[socket] = nil
            var transfer = Transfer(address: watched.address)
            transfer.bytes = transfer.total(socket)
            state.transfers[socket] = transfer
            return true
        }
    }

    /// Counts bytes of a file that were received, or handed to the kernel.
    func count(_ bytes: Int, _ connection: OpaquePointer) {
        let socket = cmicrohttpd_socket(connection)
        state.withLock { $0.transfers[socket]?.counted += Int64(bytes) }
    }

    /// Stops the time of the client, because it waits for this server.
    func pause(_ connection: OpaquePointer) {
        let socket = cmicrohttpd_socket(connection)
        state.withLock { state in
            state.connections[socket]?.time.pause()
            state.transfers[socket]?.time.pause()
        }
    }

    /// Goes on with the time of the client.
    func resume(_ connection: OpaquePointer) {
        let socket = cmicrohttpd_socket(connection)
        state.withLock { state in
            state.connections[socket]?.time.resume()
            state.transfers[socket]?.time.resume()
        }
    }

    /// Removes a connection that is about to be closed, or that has become a stream.
    func remove(_ connection: OpaquePointer?) {
        let socket = cmicrohttpd_socket(connection)
        state.withLock { state in
            state.connections[socket] = nil
            state.transfers[socket] = nil
        }
    }

    private func end(olderThan requestTimeout: Duration) {
        // A socket is closed only after it is removed here, so under the lock its number cannot have been reused.
        state.withLock { state in
            for (socket, watched) in state.connections
            where !watched.time.isPaused && watched.time.elapsed > requestTimeout {
                shutdown(socket, CInt(SHUT_RDWR))
            }
            for (socket, transfer) in state.transfers
            where !transfer.time.isPaused && transfer.time.elapsed > limits.transferInterval {
                let bytes = transfer.total(socket)
                if bytes - transfer.bytes < limits.minTransferBytes { shutdown(socket, CInt(SHUT_RDWR)) }
                state.transfers[socket]?.time = ClientTime()
                state.transfers[socket]?.bytes = bytes
            }
        }
    }
}
