import Glibc
import Lifecycle

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
    func listen() throws(Errno) -> Descriptor {
        if let path { return try listen(at: path) }
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
    private func listen(at path: String) throws(Errno) -> Descriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        func call(_ body: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt) throws(Errno) -> Descriptor? {
            let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
            let number = socket(AF_UNIX, kind, 0)
            guard number >= 0 else { throw .last }
            let descriptor = Descriptor(owning: number)
            let answer = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard answer == 0 else { return nil }
            return descriptor
        }
        if try call(connect) == nil, errno == ECONNREFUSED { unlink(path) }
        guard let descriptor = try call(bind) else { throw .last }
        guard chmod(path, 0o660) == 0, Glibc.listen(descriptor.number, 256) == 0 else { throw .last }
        return descriptor
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
