import FoundationEssentials
import Glibc
import Lifecycle

/// Sends each text as it is on its own connection, and returns all that comes back: one after the other, or all sent before the
/// first answer is read. A character up to U+00FF is a byte.
///
/// An answer ends when the server closes the connection, or after that many seconds without a byte. A host that begins with `/` is
/// a Unix socket.
package func rawExchange(
    _ port: UInt16, _ texts: [String], seconds: Double = 30, host: String = "127.0.0.1", from source: String? = nil,
    isTogether: Bool = false, hasTLS: Bool = false
) async throws -> [String] {
    if hasTLS { return try await secureExchange(port, texts, seconds: seconds, host: host) }
    return try await withCheckedThrowingContinuation { continuation in
        startThread {
            continuation.resume(
                with: Result {
                    func open(_ text: String) throws -> RawConnection {
                        let connection = try RawConnection(host, port, from: source)
                        connection.send(text)
                        return connection
                    }
                    guard isTogether else { return try texts.map { try open($0).answer(seconds) } }
                    return try texts.map(open).map { $0.answer(seconds) }
                })
        }
    }
}

private func secureExchange(
    _ port: UInt16, _ texts: [String], seconds: Double, host: String
) async throws -> [String] {
    let outcome = try await ChildProcess.run(
        "python3", [Script.path("secure_exchange.py"), host, "\(port)", "\(seconds)"],
        input: .bytes(Array(try JSONEncoder().encode(texts))))
    return try JSONDecoder().decode([String].self, from: Data(outcome.output.utf8))
}

/// A connection to a server, closed at the end.
private final class RawConnection {
    private let socket: Descriptor

    init(_ host: String, _ port: UInt16, from source: String?) throws(Errno) {
        let isLocal = host.hasPrefix("/")
        let family = isLocal ? AF_UNIX : host.contains(":") ? AF_INET6 : AF_INET
        socket = Descriptor(owning: Glibc.socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        guard socket.number >= 0 else { throw .last }
        limit(SO_SNDTIMEO, 60)
        if let source, !Self.withAddress(source, 0, { bind(socket.number, $0, $1) == 0 }) { throw .last }
        guard Self.withAddress(host, port, { connect(socket.number, $0, $1) == 0 }) else { throw .last }
    }

    /// Sends all of it, or what the server takes.
    func send(_ text: String) {
        let bytes = text.unicodeScalars.map { UInt8(exactly: $0.value) ?? 0x3F }
        var place = 0
        while place < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress! + place, $0.count - place, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            place += count
        }
    }

    /// What the server sends until it closes, or sends nothing for that many seconds.
    func answer(_ seconds: Double) -> String {
        limit(SO_RCVTIMEO, seconds)
        var answer = ""
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket.number, &piece, piece.count, 0)
            guard count > 0 else { return answer }
            // A byte of ASCII is its own character.
            answer +=
                piece[..<count].allSatisfy { $0 < 0x80 }
                ? String(decoding: piece[..<count], as: UTF8.self)
                : String(String.UnicodeScalarView(piece[..<count].lazy.map { Unicode.Scalar($0) }))
        }
    }

    private func limit(_ option: CInt, _ seconds: Double) {
        let whole = Int(seconds)
        var time = timeval(tv_sec: whole, tv_usec: max(whole == 0 ? 1 : 0, Int((seconds - Double(whole)) * 1e6)))
        setsockopt(socket.number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func withAddress(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        func call<Address>(_ address: Address) -> Bool {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
        if host.hasPrefix("/") {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: host.utf8.prefix($0.count - 1)) }
            return call(address)
        }
        if host.contains(":") {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            return inet_pton(AF_INET6, host, &address.sin6_addr) == 1 && call(address)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        return inet_pton(AF_INET, host, &address.sin_addr) == 1 && call(address)
    }
}
