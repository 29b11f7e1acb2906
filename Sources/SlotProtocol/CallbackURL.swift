/// Where a callback may go, by the form of its URL alone.
package enum CallbackURL {
    /// What is wrong with one that is not valid.
    package static let rule =
        "it must begin with https:// or http:// and a host, have no blanks, and at most \(JobSpec.Limit.callbackBytes) bytes"

    /// Whether it can be called; the queue's scripts say the same.
    package static func isValid(_ url: String) -> Bool {
        ["http", "https"].contains(url.prefix { $0 != ":" }.lowercased())
            && hasValidForm(url, atMost: JobSpec.Limit.callbackBytes)
    }

    /// Whether the rest of a URL is as it must be, whatever its scheme.
    static func hasValidForm(_ url: String, atMost limit: Int) -> Bool {
        let scheme = url.prefix { $0 != ":" }
        guard url.utf8.count <= limit,
            url.dropFirst(scheme.count).hasPrefix("://"), url.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return false }
        let authority = url.dropFirst(scheme.count + 3).prefix { !"/?#".contains($0) }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return KeyName.isValid(String(host), atMost: 300, also: ":[]")
    }
}
