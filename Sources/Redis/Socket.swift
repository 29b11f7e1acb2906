import Crypto
import Glibc
import Lifecycle

/// A non-blocking stream socket, connected or about to be.
struct Socket: ~Copyable {
    private let descriptor: Descriptor

    var number: CInt { descriptor.number }

    init(family: CInt) throws(Errno) {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(family, kind, 0)
        guard number >= 0 else { throw .last }
        descriptor = Descriptor(owning: number)
    }

    /// Starts to connect. Returns 0 or the error number; `EINPROGRESS` means that the result is pending.
    func connect(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
        Glibc.connect(number, address, length) == 0 ? 0 : errno
    }

    /// The result of the connection attempt (SO_ERROR).
    func pendingError() -> CInt {
        var error: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(number, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Sends small packets at once, and detects within a minute that the other host is gone.
    func tuneForTCP() {
        let options = [
            (CInt(IPPROTO_TCP), TCP_NODELAY, 1), (SOL_SOCKET, SO_KEEPALIVE, 1), (CInt(IPPROTO_TCP), TCP_KEEPIDLE, 30),
            (CInt(IPPROTO_TCP), TCP_KEEPINTVL, 10), (CInt(IPPROTO_TCP), TCP_KEEPCNT, 3),
        ]
        for (level, name, value) in options {
            var value = CInt(value)
            setsockopt(number, level, name, &value, socklen_t(MemoryLayout<CInt>.size))
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketResult {
        receive(buffer, 0)
    }

    /// Checks whether bytes are available, without consuming them.
    func peek() -> SocketResult {
        withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { receive($0, CInt(MSG_PEEK)) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> SocketResult {
        while true {
            let count = send(number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            if errno == EAGAIN { return .wantsWrite }
            if errno != EINTR { return .failed(Errno.last.description) }
        }
    }

    private func receive(_ buffer: UnsafeMutableRawBufferPointer, _ flags: CInt) -> SocketResult {
        while true {
            let count = recv(number, buffer.baseAddress, buffer.count, flags)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            if errno == EAGAIN { return .wantsRead }
            if errno != EINTR { return .failed(Errno.last.description) }
        }
    }
}
