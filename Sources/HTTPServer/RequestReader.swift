import CMicrohttpd
import Glibc

/// Reads a request's line and headers from libmicrohttpd, and refuses what it accepts although a proxy may read it differently.
enum RequestReader {
    /// The request; a message if it is malformed.
    static func read(
        _ connection: OpaquePointer, method: String, path: String, version: UnsafePointer<CChar>
    ) -> (request: HTTPRequest, problem: String?) {
        let headers = values(connection, .HEADER_KIND)
        let query = values(connection, .GET_ARGUMENT_KIND)
        let request = HTTPRequest(
            method: method, path: path, query: query.map { ($0.name, $0.value) },
            headers: headers.map { ($0.name, $0.value) }, client: ClientAddress(cmicrohttpd_client(connection)),
            localAddress: localAddress(cmicrohttpd_socket(connection)))
        return (request, problem(request, headers, version))
    }

    private static func problem(_ request: HTTPRequest, _ headers: [Value], _ version: UnsafePointer<CChar>) -> String?
    {
        let text = String(cString: version)
        if text != "HTTP/1.1" && text != "HTTP/1.0" { return "only HTTP/1.0 and HTTP/1.1 are supported" }
        if headers.contains(where: \.isControl) { return "a header contains a control character" }
        if !headers.allSatisfy(\.isNamed) { return "a header has a name with other characters than those of a token" }
        if !cmicrohttpd_is_strict(), !areWhole(headers, behind: version) {
            return "a line of the head is folded, or does not end with CR LF"
        }
        for name in ["content-length", "transfer-encoding", "host"] where request.values(name).count > 1 {
            return "the header \(name) is repeated"
        }
        if let host = request.header("host") {
            if !host.utf8.allSatisfy(isOfHost) { return "the header host is not a name or address with a port" }
        } else if text == "HTTP/1.1" {
            return "the header host is missing"
        }
        if let coding = request.header("transfer-encoding") {
            if text == "HTTP/1.0" { return "HTTP/1.0 has no transfer-encoding" }
            guard coding.lowercased() == "chunked" else { return "the transfer coding is not supported: send chunked" }
            if request.header("content-length") != nil {
                return "content-length and transfer-encoding are mutually exclusive"
            }
        }
        return nil
    }

    /// Whether each line ends with CR LF and the next one begins behind it. libmicrohttpd replaces both by zero in its buffer, of
    /// which it returns parts, moves a folded line to another place, and leaves out a line without a name. The very last CR is not found missing if nothing
    /// follows it. (RFC 9112, section 2.2)
    private static func areWhole(_ headers: [Value], behind version: UnsafePointer<CChar>) -> Bool {
        var end = UnsafeRawPointer(version + strlen(version))
        func endsLine() -> Bool {
            defer { end += 2 }
            return end.load(as: UInt8.self) == 0 && (end + 1).load(as: UInt8.self) == 0
        }
        for header in headers {
            guard endsLine(), header.start == end else { return false }
            end = header.end
        }
        return endsLine() && endsLine()
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
        /// Whether the name is a token. (RFC 9110, section 5.6.2)
        let isNamed: Bool
        /// Where it is in the buffer of libmicrohttpd.
        let start: UnsafeRawPointer?
        let end: UnsafeRawPointer
    }

    private static func values(_ connection: OpaquePointer, _ kind: MHD_ValueKind) -> [Value] {
        var found: [Value] = []
        withUnsafeMutablePointer(to: &found) { found in
            _ = MHD_get_connection_values_n(
                connection, kind,
                { context, _, name, nameLength, value, length in
                    let found = context!.assumingMemoryBound(to: [Value].self)
                    let name = UnsafeRawBufferPointer(start: name, count: nameLength)
                    let end = value.map { UnsafeRawPointer($0) + length }
                    var value = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : length)
                    // Blanks behind a value are no part of it. (RFC 9110, section 5.5)
                    while value.last == 0x20 || value.last == 9 { value = .init(rebasing: value.dropLast()) }
                    found.pointee.append(
                        Value(
                            name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
                            isControl: name.contains(where: isControl) || value.contains(where: isControl),
                            isNamed: !name.isEmpty && name.allSatisfy(isOfToken), start: name.baseAddress,
                            end: end ?? UnsafeRawPointer(name.baseAddress! + name.count)))
                    return .YES
                }, found)
        }
        return found
    }
}

private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 9 || byte == 0x7F }

private func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
}

private func isOfToken(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte) }

/// Whether a host with a port may have the byte. (RFC 3986, section 3.2.2)
private func isOfHost(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "-._~!$&'()*+,;=%:[]".utf8.contains(byte) }
