import Glibc

/// The datagram socket by which a service manager, such as systemd, learns the state of a service. The corresponding C
/// function is `sd_notify`.
package struct NotifySocket: ~Copyable, Sendable {
    private let descriptor: Descriptor
    private let address: sockaddr_un
    private let length: socklen_t

    /// Opens a socket that sends to this one: a path, or `@` and an abstract name.
    ///
    /// It is not connected, because a service manager may create its socket anew while the service runs.
    package init(to name: String) throws(Errno) {
        guard let (address, length) = Self.address(of: name) else { throw Errno(rawValue: EAFNOSUPPORT) }
        let number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last }
        // A manager that does not read must not hold up its service.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        descriptor = Descriptor(owning: number)
        (self.address, self.length) = (address, length)
    }

    private static func address(of name: String) -> (sockaddr_un, socklen_t)? {
        let bytes = Array(name.utf8)
        var address = sockaddr_un()
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count > 1, bytes.count < capacity, name.hasPrefix("/") || name.hasPrefix("@") else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: bytes)
            if name.hasPrefix("@") { path[0] = 0 }
        }
        // A path ends with a zero byte, and an abstract name with the address.
        let end = name.hasPrefix("/") ? 1 : 0
        return (address, socklen_t(MemoryLayout<sockaddr_un>.size - capacity + bytes.count + end))
    }

    /// Sends assignments, such as `READY=1`, in one datagram. It waits at most a second.
    package borrowing func send(_ assignments: [String]) throws(Errno) {
        let bytes = Array(assignments.joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor.number, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == bytes.count else { throw .last }
    }
}
