import CMicrohttpd
import Glibc

/// Reads a request's line and headers from libmicrohttpd, and refuses what it accepts although a proxy may read it differently.
enum RequestReader {
    /// The request; a message if it is malformed.
    static func read(
        _ connection: OpaquePointer, method: String, path: String, version: String
    ) -> (request: HTTPRequest, problem: String?) {
        let headers = values(connection, .HEADER_KIND)
        let query = values(connection, .GET_ARGUMENT_KIND)
        let request = HTTPRequest(
            method: method, path: path, query: query.map { ($0.name, $0.value) },
            headers: headers.map { ($0.name, $0.value) }, client: ClientAddress(cmicrohttpd_client(connection)),
            localAddress: localAddress(cmicrohttpd_socket(connection)))
        return (request, problem(request, version, headers.contains(where: \.isControl)))
    }

    private static func problem(_ request: HTTPRequest, _ version: String, _ hasControl: Bool) -> String? {
        if version != "HTTP/1.1" && version != "HTTP/1.0" { return "only HTTP/1.0 and HTTP/1.1 are supported" }
        if hasControl { return "a header contains a control character" }
        for name in ["content-length", "transfer-encoding", "host"] where request.values(name).count > 1 {
            return "the header \(name) is repeated"
        }
        if let coding = request.header("transfer-encoding") {
            guard coding.lowercased() == "chunked" else { return "the transfer coding is not supported: send chunked" }
            if request.header("content-length") != nil {
                return "content-length and transfer-encoding are mutually exclusive"
            }
        }
        return nil
    }

    /// The numeric address of a socket. The corresponding C function is `getnameinfo`, here without a DNS lookup.
    private static func localAddress(_ socket: CInt) -> String? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(socket, address, &length) == 0 else { return EAI_FAIL }
                return getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            }
        }
        guard status == 0 else { return nil }
        let host = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return host.hasPrefix("::ffff:") ? String(host.dropFirst("::ffff:".count)) : host
    }

    private struct Value {
        let name: String
        let value: String
        let isControl: Bool
    }

    private static func values(_ connection: OpaquePointer, _ kind: MHD_ValueKind) -> [Value] {
        var found: [Value] = []
        withUnsafeMutablePointer(to: &found) { found in
            _ = MHD_get_connection_values_n(
                connection, kind,
                { context, _, name, nameLength, value, length in
                    let found = context!.assumingMemoryBound(to: [Value].self)
                    let name = UnsafeRawBufferPointer(start: name, count: nameLength)
                    let value = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : length)
                    found.pointee.append(
                        Value(
                            name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
                            isControl: name.contains(where: isControl) || value.contains(where: isControl)))
                    return .YES
                }, found)
        }
        return found
    }
}

private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 9 || byte == 0x7F }
