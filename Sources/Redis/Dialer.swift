import Crypto
import Glibc
import Lifecycle

/// Opens a connection to a server, within a deadline.
struct Dialer {
    let place: String
    let deadline: Deadline
    let interruption: Interruption

    /// Connects, and starts TLS if the URL requires it.
    func dial(_ url: RedisURL) throws(RedisError) -> Wire {
        switch url.addresses[0] {
        case .unix(let path):
            return Wire(try connect(path: path), tls: nil)
        case .tcp(let host, let port):
            return Wire(try connect(host: host, port: port), tls: nil)
        case .tls(let host, let port):
            let socket = try connect(host: host, port: port)
            let session = try secure(socket.number, host: host, files: url.files)
            return Wire(socket, tls: session)
        }
    }

    private func secure(_ socket: CInt, host: String, files: TLSFiles) throws(RedisError) -> TLSSession {
        let session: TLSSession
        do throws(TLSError) { session = try TLSSession.make(socket: socket, host: host, files: files) } catch {
            throw .connection(error.description)
        }
        while true {
            switch session.handshake() {
            case .bytes: return session
            case .wantsRead: try wait(for: CShort(POLLIN), on: socket)
            case .wantsWrite: try wait(for: CShort(POLLOUT), on: socket)
            case .ended: throw failure("the server closed the connection during the TLS handshake")
            case .failed(let reason): throw failure(reason)
            }
        }
    }

    private func connect(path: String) throws(RedisError) -> Socket {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let socket = try socket(family: AF_UNIX)
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        while true {
            let error = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { socket.connect($0, size) }
            }
            guard error == EAGAIN else {
                try finish(error, socket.number) { socket.pendingError() }
                return socket
            }
            // The server's queue is full, and poll(2) does not report when it has room again.
            guard interruption.pause(until: Deadline(after: .milliseconds(5))) != .interrupted else { throw .closed }
            guard !deadline.hasPassed else { throw failure("connection refused or unreachable") }
        }
    }

    /// Tries the host's addresses one after the other, each with a share of the time. The lookup blocks for as long as
    /// the resolver does.
    private func connect(host: String, port: UInt16) throws(RedisError) -> Socket {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else { throw failure(String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        let entries = Array(sequence(first: list) { $0?.pointee.ai_next }.compactMap(\.self))
        return try deadline.first(of: entries) { entry, share throws(RedisError) in
            try Dialer(place: place, deadline: share, interruption: interruption).connect(entry.pointee)
        }
    }

    private func connect(_ entry: addrinfo) throws(RedisError) -> Socket {
        let socket = try socket(family: entry.ai_family)
        socket.tuneForTCP()
        try finish(socket.connect(entry.ai_addr, entry.ai_addrlen), socket.number) { socket.pendingError() }
        return socket
    }

    /// Waits until a connection attempt has finished; `error` is the result of `connect`.
    private func finish(_ error: CInt, _ socket: CInt, outcome: () -> CInt) throws(RedisError) {
        var error = error
        if error == EINPROGRESS || error == EINTR {
            try wait(for: CShort(POLLOUT), on: socket)
            error = outcome()
        }
        guard error == 0 else { throw failure(Errno(rawValue: error).description) }
    }

    private func socket(family: CInt) throws(RedisError) -> Socket {
        do throws(Errno) { return try Socket(family: family) } catch { throw failure(error.description) }
    }

    private func wait(for events: CShort, on socket: CInt) throws(RedisError) {
        switch interruption.wait(for: events, on: socket, until: deadline) {
        case .ready: return
        case .timedOut: throw failure("no response within \(deadline.term.rounded) s")
        case .interrupted: throw .closed
        }
    }

    private func failure(_ reason: String) -> RedisError { .connection("cannot reach Redis at \(place): \(reason)") }
}
