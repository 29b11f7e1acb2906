import Glibc

/// The address on which a listener accepts connections: a numeric address and a port, or a Unix socket.
package struct ListenAddress: Hashable, Sendable {
    /// An IPv4 or IPv6 address, without brackets.
    package let host: String
    /// 0 lets the system choose a port.
    package let port: UInt16
    /// The path of a Unix socket; the host and the port are then empty.
    package let path: String?

    /// Parses `unix:/PATH`, `ADDRESS:PORT`, `[IPV6]:PORT`, or only a port, which is then bound on loopback.
    package init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            // `sun_path` has 108 bytes.
            guard text.utf8.count < 108 + "unix:".utf8.count, !text.hasSuffix("/") else { return nil }
            (host, port, path) = ("", 0, String(text.dropFirst("unix:".count)))
            return
        }
        let parts = text.lastIndex(of: ":").map { (text[..<$0], text[text.index(after: $0)...]) } ?? ("", text[...])
        guard let port = UInt16(parts.1) else { return nil }
        var host = String(parts.0)
        if host.hasPrefix("[") {
            guard host.hasSuffix("]") else { return nil }
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        if host.isEmpty || host == "localhost" { host = "127.0.0.1" }
        self.host = host
        self.port = port
        path = nil
        guard isNumeric else { return nil }
    }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool { path != nil || host.hasPrefix("127.") || host == "::1" }

    /// A socket that listens on the address, with close-on-exec set.
    package func listen() throws(Errno) -> Descriptor {
        if let path { return try Self.listen(at: path) }
        return try withAddress { address throws(Errno) in
            let kind = address.pointee.ai_socktype | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
            let number = socket(address.pointee.ai_family, kind, 0)
            guard number >= 0 else { throw .last }
            let descriptor = Descriptor(owning: number)
            var yes: CInt = 1
            setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
            guard bind(number, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0,
                Glibc.listen(number, 256) == 0
            else { throw .last }
            return descriptor
        }
    }

    /// Others than the owner and the group cannot connect. A socket that a process left is replaced.
    private static func listen(at path: String) throws(Errno) -> Descriptor {
        // Other files refuse a connection too.
        var found = stat()
        let isSocket = lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFSOCK
        if isSocket, try unixSocket(path, CInt(SOCK_NONBLOCK.rawValue), Glibc.connect) == nil, errno == ECONNREFUSED {
            unlink(path)
        }
        guard let descriptor = try unixSocket(path, CInt(SOCK_NONBLOCK.rawValue), bind) else { throw .last }
        guard chmod(path, 0o660) == 0, Glibc.listen(descriptor.number, 256) == 0 else { throw .last }
        return descriptor
    }

    /// A Unix socket on which the call succeeded; `nil`, and `errno` as the call left it, if it did not.
    private static func unixSocket(
        _ path: String, _ flags: CInt, _ call: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) throws(Errno) -> Descriptor? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | flags, 0)
        guard number >= 0 else { throw .last }
        let descriptor = Descriptor(owning: number)
        let answer = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard answer == 0 else { return nil }
        return descriptor
    }

    /// The port of a bound socket. The corresponding C function is `getsockname`.
    package static func boundPort(_ socket: CInt) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &length) }
            // The port has the same offset in IPv4 and IPv6 socket addresses.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
    }

    /// The address with another port.
    package func with(port: UInt16) -> ListenAddress { ListenAddress(host: host, port: port) }

    /// The address at which this machine reaches it: on loopback, if it means all addresses.
    package var reachable: ListenAddress {
        switch host {
        case "0.0.0.0": ListenAddress(host: "127.0.0.1", port: port)
        case "::": ListenAddress(host: "::1", port: port)
        default: self
        }
    }

    /// A connection to the address, on which each read and write takes at most that many seconds.
    package func connect(timeout seconds: Int) throws(Errno) -> Descriptor {
        let connected: Descriptor
        if let path {
            guard let descriptor = try Self.unixSocket(path, 0, Glibc.connect) else { throw .last }
            connected = descriptor
        } else {
            connected = try withAddress { address throws(Errno) in
                let kind = address.pointee.ai_socktype | CInt(SOCK_CLOEXEC.rawValue)
                let number = socket(address.pointee.ai_family, kind, 0)
                guard number >= 0 else { throw .last }
                let descriptor = Descriptor(owning: number)
                guard Glibc.connect(number, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
                    throw .last
                }
                return descriptor
            }
        }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(connected.number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        return connected
    }

    private init(host: String, port: UInt16) {
        self.host = host
        self.port = port
        path = nil
    }

    private var isNumeric: Bool {
        (try? withAddress { (_) throws(Errno) in true }) ?? false
    }

    /// The corresponding C function is `getaddrinfo`, here without a DNS lookup.
    private func withAddress<R: ~Copyable>(_ body: (UnsafePointer<addrinfo>) throws(Errno) -> R) throws(Errno) -> R {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let list else { throw Errno(rawValue: EINVAL) }
        defer { freeaddrinfo(list) }
        return try body(list)
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String {
        if let path { return "unix:\(path)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
