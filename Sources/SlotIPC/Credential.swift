import FoundationEssentials
package import JobSchema

/// Where the operator stores credentials for web servers; read again for each request, because they may be replaced.
package struct CredentialSettings: Codable, Hashable, Sendable {
    /// A file of credentials (`RESPOOL_CREDENTIALS_FILE`).
    package var file: String?
    /// Lines in the format of such a file (`RESPOOL_CREDENTIALS`).
    package var lines: String?

    package init() {}

    /// Reads all credentials.
    package func read() throws(Failure) -> [Credential] {
        var all =
            try lines.map { text throws(Failure) in try Credential.all(in: text, of: "RESPOOL_CREDENTIALS") } ?? []
        if let file {
            let origin = "the file '\(file)' of RESPOOL_CREDENTIALS_FILE"
            guard let text = KeyFile.text(file) else {
                throw Failure(.sourceDenied, "\(origin) cannot be read", retryable: true)
            }
            all += try Credential.all(in: text, of: origin)
        }
        return all
    }
}

/// A credential for some web servers.
package struct Credential: Sendable {
    /// The name by which jobs refer to it.
    package let name: String
    /// The header line that sends it.
    package let header: String
    private let hosts: [CredentialHost]

    static let form = "`NAME HOST[,HOST…] basic USER:PASSWORD`, `… bearer TOKEN` or `… header NAME: VALUE`"

    /// Parses the credentials of a text, one per line; `origin` is its source, for messages. No message contains a
    /// possible secret.
    package static func all(in text: String, of origin: String) throws(Failure) -> [Credential] {
        var found: [Credential] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(maxSplits: 3, whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard let credential = Credential(words), !found.contains(where: { $0.name == credential.name }) else {
                throw Failure(
                    .sourceDenied, "line \(index + 1) of \(origin) is not \(form), each NAME once", retryable: true)
            }
            found.append(credential)
        }
        return found
    }

    private init?(_ words: [String]) {
        guard words.count == 4, KeyName.isValid(words[0]),
            words[3].utf8.allSatisfy({ (0x20...0x7e).contains($0) || $0 >= 0x80 })
        else { return nil }
        name = words[0]
        let hosts = words[1].split(separator: ",").compactMap { CredentialHost($0) }
        guard !hosts.isEmpty, hosts.count == words[1].split(separator: ",", omittingEmptySubsequences: false).count
        else { return nil }
        // Servers of files accept only a user and a password.
        guard words[2] == "basic" || !hosts.contains(where: { FileScheme(of: $0.scheme) != nil }) else { return nil }
        self.hosts = hosts
        let value = String(words[3].reversed().drop { $0 == " " }.reversed())
        switch words[2] {
        case "basic" where value.contains(":"):
            header = "authorization: Basic \(Data(value.utf8).base64EncodedString())"
        case "bearer" where !value.contains(" "): header = "authorization: Bearer \(value)"
        case "header":
            let parts = value.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, KeyName.isValid(String(parts[0])), parts[1].contains(where: { $0 != " " }) else {
                return nil
            }
            header = value
        default: return nil
        }
    }

    /// Whether the credential may be sent to a server.
    package func isFor(scheme: String, host: String, port: Int) -> Bool {
        hosts.contains { $0.scheme == scheme && $0.port == port && $0.matches(host.lowercased()) }
    }
}

/// A server to which a credential may be sent.
private struct CredentialHost {
    let scheme: String
    /// With a leading `*.`, any subdomain.
    private let name: Substring
    let port: Int

    private static let ports = ["https": 443, "http": 80, "ftp": 21, "ftps": 990, "sftp": 22]

    /// Parses a host, with the port unless it is the default, and the scheme unless it is `https`.
    init?(_ text: Substring) {
        var rest = text.lowercased()[...]
        var scheme = "https"
        if let end = rest.firstRange(of: "://") {
            scheme = String(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        guard let usual = Self.ports[scheme] else { return nil }
        var port: Int? = usual
        if let colon = rest.lastIndex(of: ":"), !rest.hasSuffix("]") {
            port = Int(rest[rest.index(after: colon)...])
            rest = rest[..<colon]
        }
        let plain = rest.hasPrefix("*.") ? rest.dropFirst(2) : rest
        guard let port, (1...65_535).contains(port) else { return nil }
        guard KeyName.isValid(String(plain), atMost: 253) || plain.hasPrefix("[") && plain.hasSuffix("]") else {
            return nil
        }
        self.scheme = scheme
        name = rest
        self.port = port
    }

    func matches(_ host: String) -> Bool {
        if name.hasPrefix("*.") { return host.hasSuffix(name.dropFirst()) }
        if name.hasPrefix("[") { return host == name.dropFirst().dropLast() }
        return host == name
    }
}
