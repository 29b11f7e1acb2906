import Glibc
package import Lifecycle

/// Ports of the loopback address.
package enum LoopbackPort {
    /// A port that is currently unused: the requested one, or any.
    ///
    /// It stays reserved until the process ends, so that neither another test nor an outgoing connection takes it: the kernel
    /// lets only servers that set `SO_REUSEADDR` listen there, which most do.
    package static func free(_ port: UInt16 = 0) throws(Errno) -> UInt16 {
        let socket = Descriptor(owning: socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket.number, pointer, length) == 0 && getsockname(socket.number, pointer, &length) == 0
            }
        }
        guard status else { throw .last }
        // Only now: the kernel may give a port with the option to two sockets.
        var yes: CInt = 1
        guard setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size)) == 0 else {
            throw .last
        }
        _ = socket.release()
        return UInt16(bigEndian: address.sin_port)
    }
}
