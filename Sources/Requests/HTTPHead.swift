import CCurl
import Glibc

/// The status line and the header fields of a response.
package struct HTTPHead {
    /// The status code; 0 before a response.
    package private(set) var status = 0
    /// Whether the response uses HTTP/2, where other responses can share the connection.
    package private(set) var isVersion2 = false
    private var fields: [String: String] = [:]
    /// Bytes of all lines, including those of earlier responses. The total is limited.
    private(set) var size = 0

    static let largest = 64 << 10

    /// Whether the head describes a file on an FTP or SFTP server.
    private let isOfFile: Bool

    init() { isOfFile = false }

    /// The head for a file on an FTP or SFTP server, from the number of bytes that follow, the modification time in seconds
    /// since 1970, and the offset at which the bytes begin.
    init(fileOf length: Int64?, changed: Int64?, from offset: Int64?, after former: HTTPHead) {
        isOfFile = true
        size = former.size
        status = offset == nil ? 200 : 206
        fields["last-modified"] = changed.map { String($0) }
        fields["content-length"] = length.map { String($0) }
        if let offset, let length, length > 0, length <= .max - offset {
            fields["content-range"] = "bytes \(offset)-\(offset + length - 1)/\(offset + length)"
        }
    }

    /// Counts a line without reading it.
    mutating func count(_ line: String) { size += line.utf8.count + 2 }

    /// Takes in one line, without its line ending.
    mutating func append(_ line: String) {
        count(line)
        if line.hasPrefix("HTTP/") || line.hasPrefix("ICY ") {
            let former = size
            self = HTTPHead()
            size = former
            isVersion2 = line.hasPrefix("HTTP/2")
            status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            // If a field is repeated, the first value is used. None of the fields read here may be repeated.
            let name = line[..<colon].lowercased()
            if fields[name] == nil {
                fields[name] = String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
            }
        }
    }

    /// Whether the body is a stream without an end: a radio station, or audio whose length is not announced.
    package var isEndless: Bool {
        guard status == 200, fields["content-length"] == nil else { return false }
        if fields.keys.contains(where: { $0.hasPrefix("icy-") }) { return true }
        // A file of unknown length is sent in chunks, or with an entity tag or a modification date.
        let isFile = marksEnd || fields["etag"] != nil || fields["last-modified"] != nil
        let type = (fields["content-type"] ?? "").prefix { $0 != ";" }.lowercased()
        return !isFile && Self.streamedTypes.contains(type)
    }

    private static let streamedTypes: Set = [
        "audio/mpeg", "audio/mp3", "audio/aac", "audio/aacp", "audio/ogg", "application/ogg",
    ]

    /// Whether the end of a body of unknown length is marked explicitly, rather than by the end of the connection.
    package var marksEnd: Bool { isVersion2 || fields["transfer-encoding"] != nil }

    /// The value of a header field by its name in lowercase.
    package subscript(name: String) -> String? { fields[name] }

    /// The unresolved target of a redirect.
    var redirection: String? { [301, 302, 303, 307, 308].contains(status) ? fields["location"] : nil }

    /// Length of the body in bytes, if the server announces it and the body is not chunked.
    package var contentLength: Int64? {
        guard fields["transfer-encoding"] == nil else { return nil }
        return fields["content-length"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The byte range and the total size of a partial response (RFC 9110, section 14.4).
    package var contentRange: (bytes: Range<Int64>, total: Int64?)? {
        guard let value = fields["content-range"], value.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, ends.count == 2, let first = Int64(ends[0]), let last = Int64(ends[1]) else {
            return nil
        }
        guard first >= 0, first <= last, last < Int64.max else { return nil }
        guard parts[1] != "*" else { return (first..<last + 1, nil) }
        guard let total = Int64(parts[1]), last < total else { return nil }
        return (first..<last + 1, total)
    }

    /// Seconds after which the server allows a retry, at most one hour (RFC 9110, section 10.2.3).
    var retryAfter: Double? {
        guard let value = fields["retry-after"] else { return nil }
        if let seconds = Int64(value) { return Double(min(max(seconds, 0), 3600)) }
        return Self.seconds(value).map { Double(min(max($0 - Int64(time(nil)), 0), 3600)) }
    }

    /// An entity tag that guarantees identical bytes.
    package var strongTag: String? { fields["etag"].flatMap { $0.hasPrefix("\"") ? $0 : nil } }

    /// The modification date, if the file cannot have changed again within that second (RFC 9110, section 8.8.2.2).
    package var strongDate: String? {
        // The server's clock may differ from ours, but not by minutes.
        if isOfFile { return fields["last-modified"].flatMap { Int64($0)! + 60 < time(nil) ? $0 : nil } }
        guard let value = fields["last-modified"], let changed = Self.seconds(value) else { return nil }
        guard let now = fields["date"].flatMap(Self.seconds) else { return nil }
        return now > changed ? value : nil
    }

    /// Seconds since 1970 of an HTTP date. The corresponding C function is `curl_getdate`.
    private static func seconds(_ date: String) -> Int64? {
        let seconds = curl_getdate(date, nil)
        return seconds == -1 ? nil : Int64(seconds)
    }
}
