import Crypto
import Glibc

/// The way to a server: a connected socket, with TLS over it or without.
struct Wire: ~Copyable {
    let socket: Socket
    private let tls: TLSSession?

    init(_ socket: consuming Socket, tls: consuming TLSSession?) {
        self.socket = socket
        self.tls = tls
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketResult {
        switch tls {
        case .some(let session): session.read(into: buffer)
        case .none: socket.read(into: buffer)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> SocketResult {
        switch tls {
        case .some(let session): session.write(bytes)
        case .none: socket.write(bytes)
        }
    }

    /// Whether bytes wait that a poll of the socket does not show.
    var hasPendingBytes: Bool {
        switch tls {
        case .some(let session): session.hasPendingBytes
        case .none: false
        }
    }

    /// Whether the server has neither closed nor said anything, as far as this machine knows.
    var isQuiet: Bool {
        switch socket.peek() {
        case .wantsRead: return true
        case .bytes: break
        default: return false
        }
        switch tls {
        // Session tickets of TLS are bytes on the socket, and nothing once decrypted.
        case .some(let session): if case .wantsRead = session.peek() { return true } else { return false }
        case .none: return false
        }
    }
}
