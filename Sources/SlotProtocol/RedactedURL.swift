/// The URL without what may be a secret: user info is struck out, and a query is shown as `?…`.
package func redactedURL(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    var host = rest[..<authorityEnd]
    if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
    let pathEnd = rest[authorityEnd...].firstIndex { "?#".contains($0) } ?? rest.endIndex
    let isLocal = url[..<scheme.lowerBound].lowercased() == "file"
    let tail = isLocal ? rest[authorityEnd...] : rest[authorityEnd..<pathEnd]
    return url[..<scheme.upperBound] + host + tail + (!isLocal && pathEnd != rest.endIndex ? "?…" : "")
}
