/// The URL without parts that may be secret: user information is removed, and a query is shown as `?…`.
package func redactedURL(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return redactedText(url) }
    let rest = url[scheme.upperBound...]
    let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    var host = rest[..<authorityEnd]
    if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
    // A password with an unencoded slash looks like a port and a path.
    guard hasPlausiblePort(host) else { return url[..<scheme.upperBound] + "…" }
    let pathEnd = rest[authorityEnd...].firstIndex { "?#".contains($0) } ?? rest.endIndex
    // A file URL with a host is not a local path, and may be a mistyped web URL.
    let isLocal = url[..<scheme.lowerBound].lowercased() == "file" && authorityEnd == rest.startIndex
    let tail = isLocal ? rest[authorityEnd...] : rest[authorityEnd..<pathEnd]
    return url[..<scheme.upperBound] + host + tail + (!isLocal && pathEnd != rest.endIndex ? "?…" : "")
}

/// A text that is not a URL, but may be a mistyped one; an absolute path contains no secrets.
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
