import Glibc

extension ListenAddress {
    /// The status with which an HTTP server at the address answers GET for a path; `nil` if it answers something else.
    /// It blocks, each step at most two seconds.
    package func status(of path: String) throws(Errno) -> Int? {
        let connection = try reachable.connect(timeout: 2)
        let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
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
