import Crypto
import Glibc

/// The transport to a server: a connected socket, with or without TLS.
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

    /// Whether bytes are available that poll(2) on the socket does not report.
    var hasPendingBytes: Bool {
        switch tls {
        case .some(let session): session.hasPendingBytes
        case .none: false
        }
    }

    /// Whether the server has neither closed the connection nor sent anything, as far as the local socket shows.
    var isQuiet: Bool {
        switch socket.peek() {
        case .wantsRead: return true
        case .bytes: break
        default: return false
        }
        switch tls {
        // TLS session tickets are bytes on the socket, but no decrypted data.
        case .some(let session): if case .wantsRead = session.peek() { return true } else { return false }
        case .none: return false
        }
    }
}
