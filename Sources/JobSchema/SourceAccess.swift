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
    /// The headers and credentials for the source; throws if they are set and the source's server cannot use them.
    func access(to source: String) throws(Failure) -> SourceAccess {
        var access = SourceAccess()
        access.headers = try headers("source_headers")
        access.credentials = try credentials("source_credentials", besides: access.headers, "source_headers")
        let takesHeaders = ServerURL.isOnWeb(source)
        guard takesHeaders || access.headers.isEmpty else {
            throw Self.invalid("`source_headers` requires a `source` that begins with https:// or http://")
        }
        guard takesHeaders || access.credentials == nil || FileScheme(of: source) != nil else {
            throw Self.invalid("`source_credentials` requires a `source` that begins with https://, http:// or sftp://")
        }
        return access
    }

    /// The name of credentials; throws if the headers contain `authorization` too.
    func credentials(
        _ field: String, besides headers: [String: String], _ headersField: String
    ) throws(Failure) -> String? {
        guard let name = fields[field] else { return nil }
        guard KeyName.isValid(name) else { throw wrong(field, "1 to 64 of A-Z a-z 0-9 _ . -") }
        guard headers["authorization"] == nil else {
            throw Self.invalid("`authorization` in `\(headersField)` and `\(field)` are mutually exclusive: give one")
        }
        return name
    }

    /// Header lines that a job adds to requests, by lowercase names.
    func headers(_ field: String) throws(Failure) -> [String: String] {
        guard let text = fields[field] else { return [:] }
        guard let pairs = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)), pairs.count <= 16
        else {
            throw Self.invalid(
                "`\(field)` must be a JSON object of at most 16 strings, such as {\"accept\":\"audio/*\"}")
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
                throw Self.invalid(
                    "`\(field)` has the header `\(Self.shown(name))`: its name must have 1 to 64 letters, digits "
                        + "or -, must occur once and must not control the connection, and its value must be visible ASCII"
                )
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
