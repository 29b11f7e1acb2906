/// Checks the form of a server's URL, without accessing the server.
package enum ServerURL {
    /// Whether it has any scheme, a host, no blanks, and at most `limit` bytes.
    package static func isValid(_ url: String, atMost limit: Int = JobSpec.Limit.valueBytes) -> Bool {
        let scheme = url.prefix { $0 != ":" }
        guard !scheme.isEmpty, url.utf8.count <= limit,
            url.dropFirst(scheme.count).hasPrefix("://"), url.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return false }
        return KeyName.isValid(String(hostAndPort(of: url)), atMost: 300, also: ":[]")
    }

    /// The URL without control characters and spaces before and behind it, as browsers read it (WHATWG URL, section 4.4).
    static func trimmed(_ url: String) -> String {
        let rest = url.utf8.drop { $0 <= 0x20 }
        return String(Substring(rest.dropLast(rest.reversed().prefix { $0 <= 0x20 }.count)))
    }

    /// Whether a URL has a host, of whatever alphabet.
    package static func hasHost(_ url: String) -> Bool {
        guard let first = hostAndPort(of: url).utf8.first else { return false }
        return first != UInt8(ascii: ":") && first > 0x20
    }

    /// The host, and the port if there is one; without user and password.
    package static func hostAndPort(of url: String) -> Substring {
        let authority = url.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
        return authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }

    /// Whether it is also the URL of a web server.
    package static func isValidOnWeb(_ url: String, atMost limit: Int = JobSpec.Limit.valueBytes) -> Bool {
        isOnWeb(url) && isValid(url, atMost: limit)
    }

    /// The port in the URL; `nil` if there is none.
    package static func port(of url: String) -> UInt16? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return authority.lastIndex(of: ":").flatMap { UInt16(authority[authority.index(after: $0)...]) }
    }

    /// Whether the text begins with https:// or http://.
    package static func isOnWeb(_ text: String) -> Bool {
        ["https://", "http://"].contains { text.prefix($0.count).lowercased() == $0 }
    }
}
