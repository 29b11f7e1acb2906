import Glibc
package import Lifecycle

extension ListenAddress {
    /// The status with which an HTTP server at the address answers GET for a path; `nil` if it answers something else.
    ///
    /// It blocks, each step at most two seconds. A certificate is not verified, because it has the name by which other machines reach
    /// the server.
    package func status(of path: String, hasTLS: Bool = false) throws -> Int? {
        let connection = try reachable.connect(timeout: 2)
        let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        let start = try hasTLS ? Self.secureAnswer(connection.number, request) : Self.answer(connection.number, request)
        let words = String(decoding: start, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }

    /// The first bytes of the answer.
    private static func answer(_ socket: CInt, _ request: [UInt8]) throws(Errno) -> [UInt8] {
        guard send(socket, request, request.count, CInt(MSG_NOSIGNAL)) == request.count else { throw .last }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw .last }
        return Array(buffer[..<count])
    }

    private static func secureAnswer(_ socket: CInt, _ request: [UInt8]) throws -> [UInt8] {
        let session = try TLSSession.makeUnverified(socket: socket)
        var buffer = [UInt8](repeating: 0, count: 64)
        guard case .bytes = session.handshake(),
            case .bytes(request.count) = request.withUnsafeBytes({ session.write($0) }),
            case .bytes(let count) = buffer.withUnsafeMutableBytes({ session.read(into: $0) })
        else { throw Errno(rawValue: ECONNABORTED) }
        return Array(buffer[..<count])
    }
}
