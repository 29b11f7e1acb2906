/// The URL without parts that may be secret: user information is removed, and a query is shown as `?…`.
package func redactedURL(_ url: String) -> String {
    // Before `://` in another text may be user information: only a scheme is shown (RFC 3986, section 3.1).
    guard let scheme = url.firstRange(of: "://"), isScheme(url[..<scheme.lowerBound]) else { return redactedText(url) }
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

/// A text that is not a URL, but may be a mistyped one; an absolute path that does not begin like `//host` contains no secrets.
private func redactedText(_ text: String) -> String {
    let slashes = text.prefix { $0 == "/" }
    guard slashes.count != 1 else { return text }
    let rest = text[slashes.endIndex...]
    let end = rest.firstIndex { "?#".contains($0) } ?? rest.endIndex
    let plain = rest[..<end]
    let host = plain.lastIndex(of: "@").map { plain[plain.index(after: $0)...] } ?? plain
    // A password with an unencoded `?` looks like a port and a query.
    guard !rest[end...].contains("@") || hasPlausiblePort(host.prefix { $0 != "/" }) else { return "\(slashes)…" }
    return "\(slashes)\(host)\(end == text.endIndex ? "" : "?…")"
}

private func isScheme(_ text: Substring) -> Bool {
    text.first?.isLetter == true && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
}

private func hasPlausiblePort(_ host: Substring) -> Bool {
    guard !host.hasPrefix("["), let colon = host.firstIndex(of: ":") else { return true }
    return host[host.index(after: colon)...].utf8.allSatisfy { (0x30...0x39).contains($0) }
}
