import Glibc
import Lifecycle

/// Asks a server of the HTTP API whether it is ready.
enum ReadinessProbe {
    /// Whether `/readyz` has status 200.
    static func isReady(_ address: ListenAddress) async -> Bool {
        await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: (try? status(address)) == 200) }
        }
    }

    private static func status(_ address: ListenAddress) throws(Errno) -> Int? {
        let connection = try address.reachable.connect(timeout: 2)
        let request = Array("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard send(connection.number, request, request.count, CInt(MSG_NOSIGNAL)) == request.count else {
            throw .last
        }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(connection.number, &buffer, buffer.count, 0)
        guard count > 0 else { throw .last }
        let words = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }
}
