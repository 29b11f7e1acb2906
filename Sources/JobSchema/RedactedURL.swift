/// The URL without what may be a secret: user info is struck out, and a query is shown as `?…`.
package func redactedURL(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return redactedText(url) }
    let rest = url[scheme.upperBound...]
    let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    var host = rest[..<authorityEnd]
    if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
    // A password with a bare slash in it ends up in what looks like the port and the path.
    guard hasPlausiblePort(host) else { return url[..<scheme.upperBound] + "…" }
    let pathEnd = rest[authorityEnd...].firstIndex { "?#".contains($0) } ?? rest.endIndex
    // One with a host is no path of this machine, and may have been meant for the web.
    let isLocal = url[..<scheme.lowerBound].lowercased() == "file" && authorityEnd == rest.startIndex
    let tail = isLocal ? rest[authorityEnd...] : rest[authorityEnd..<pathEnd]
    return url[..<scheme.upperBound] + host + tail + (!isLocal && pathEnd != rest.endIndex ? "?…" : "")
}

/// What is no URL, but may have been meant for one; an absolute path has no secrets.
private func redactedText(_ text: String) -> String {
    guard !text.hasPrefix("/") else { return text }
    let end = text.firstIndex { "?#".contains($0) } ?? text.endIndex
    let plain = text[..<end]
    let host = plain.lastIndex(of: "@").map { plain[plain.index(after: $0)...] } ?? plain
    return host + (end == text.endIndex ? "" : "?…")
}

private func hasPlausiblePort(_ host: Substring) -> Bool {
    guard !host.hasPrefix("["), let colon = host.firstIndex(of: ":") else { return true }
    return host[host.index(after: colon)...].utf8.allSatisfy { (0x30...0x39).contains($0) }
}
