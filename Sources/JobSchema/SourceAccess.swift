import FoundationEssentials

/// The headers and credentials that are sent to the web server of a source.
package struct SourceAccess: Codable, Hashable, Sendable {
    /// Values by lowercase names, sent only to the server of the source's URL.
    package var headers: [String: String] = [:]
    /// The name of one of the operator's credentials.
    package var credentials: String?

    package init() {}
}

// The corresponding fields of a job.
extension FieldReader {
    /// The headers and credentials for the source, which only some servers can use.
    func access(to source: String) -> SourceAccess {
        var access = SourceAccess()
        access.headers = headers("source_headers")
        access.credentials = credentials("source_credentials", besides: access.headers, "source_headers")
        guard !source.isEmpty, !ServerURL.isOnWeb(source) else { return access }
        if !access.headers.isEmpty {
            refuse("source_headers", "`source_headers` requires a `source` that begins with https:// or http://")
        }
        if access.credentials != nil, FileScheme(of: source) == nil {
            let rule = "`source_credentials` requires a `source` that begins with https://, http:// or sftp://"
            refuse("source_credentials", rule)
        }
        return access
    }

    /// The name of credentials, which exclude the header `authorization`.
    func credentials(_ field: String, besides headers: [String: String], _ headersField: String) -> String? {
        guard let name = fields[field] else { return nil }
        if headers["authorization"] != nil {
            refuse(field, "`authorization` in `\(headersField)` and `\(field)` are mutually exclusive: give one")
        }
        return name
    }

    /// Header lines that a job adds to requests, by lowercase names.
    func headers(_ field: String) -> [String: String] {
        guard let text = fields[field] else { return [:] }
        guard let pairs = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)), pairs.count <= 16
        else {
            refuse(
                field, "`\(field)` must be a JSON object of at most 16 strings, such as {\"accept\":\"audio/*\"}")
            return [:]
        }
        var headers: [String: String] = [:]
        for (name, value) in pairs.sorted(by: { $0.key < $1.key }) {
            let isName =
                KeyName.isValid(name) && !name.contains { "_.".contains($0) }
                && !Self.ownHeaders.contains(name.lowercased())
            // libcurl omits a header that has no value.
            let isValue =
                value.utf8.allSatisfy { (0x20...0x7e).contains($0) } && value.utf8.contains { $0 > 0x20 }
                && value.utf8.count <= 2048
            guard isName, isValue, headers.updateValue(value, forKey: name.lowercased()) == nil else {
                refuse(
                    field,
                    "`\(field)` has the header `\(Self.shown(name))`: its name must have 1 to 64 letters, digits "
                        + "or -, must occur once and must not control the connection, and its value must be visible ASCII"
                )
                break
            }
        }
        return headers
    }

    /// Headers for routing, ranges and framing, which a job cannot set.
    private static let ownHeaders: Set = [
        "host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer", "range",
        "if-range", "accept-encoding", "icy-metadata", "proxy-authorization", "proxy-connection", "keep-alive",
    ]
}
