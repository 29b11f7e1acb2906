import HTTPServer
import Lifecycle

/// Refuses requests that a web page of another origin sends, also by a name that was rebound to this address.
struct OriginCheck: Sendable {
    /// Names and addresses by which the server is reached, in lower case without a port.
    let hosts: Set<String>
    /// Whether the server listens on all addresses, and may be reached by each.
    private let isWildcard: Bool

    /// `names` are further names, such as that of a proxy.
    init(address: ListenAddress, names: [String]) {
        isWildcard = ["0.0.0.0", "::"].contains(address.host)
        hosts = Set(["localhost", "127.0.0.1", "::1", address.host.lowercased()] + names.map { $0.lowercased() })
    }

    /// Why the request is refused; `nil` if it is not.
    func problem(_ request: HTTPRequest) -> Problem? {
        guard let host = request.header("host"), isOwn(Self.name(host), request) else {
            return Problem(
                403, "host_denied", "the header host names another server: give its name in RESPOOL_API_HOSTS")
        }
        if let origin = request.values("origin").first {
            guard let scheme = origin.firstRange(of: "://"),
                origin[scheme.upperBound...].lowercased() == host.lowercased()
            else { return Problem(403, "origin_denied", "requests of pages of other origins are not allowed") }
        }
        // A link to the page may be anywhere; it contains no data. So may one with a ticket, which is checked later.
        let hasTicket = request.path.contains("/outputs/") && request.query.contains { $0.name == "ticket" }
        let isLink =
            (request.path == "/" || request.method == "GET" && hasTicket)
            && request.header("sec-fetch-mode") == "navigate"
        if let site = request.values("sec-fetch-site").first, site != "same-origin", site != "none", !isLink {
            return Problem(403, "origin_denied", "requests of pages of other origins are not allowed")
        }
        return nil
    }

    /// Whether a name is one of this server. A name that was rebound to its address is no address.
    private func isOwn(_ name: String, _ request: HTTPRequest) -> Bool {
        hosts.contains(name) || isWildcard && name == request.localAddress
    }

    /// The host without its port and brackets.
    private static func name(_ host: String) -> String {
        let host = host.lowercased()
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return String(host[..<end].dropFirst()) }
        return String(host.prefix { $0 != ":" })
    }
}
