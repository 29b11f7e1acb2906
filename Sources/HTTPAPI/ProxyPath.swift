import HTTPServer

/// The place of the server behind a proxy: below which path it is, and which clients are proxies, whose header X-Forwarded-For is
/// trusted.
package struct ProxyPath: Sendable {
    /// The path without a slash at its end; empty for the root.
    package let base: String
    private let proxies: Set<[UInt8]>

    /// `nil` if the path does not begin with a slash, or if a proxy is not an address or `unix`.
    package init?(base: String = "", proxies: [String] = []) {
        var base = base
        while base.hasSuffix("/") { base.removeLast() }
        guard base.isEmpty || base.hasPrefix("/"), !base.contains(where: { "?#% \"<>".contains($0) }) else {
            return nil
        }
        self.base = base
        let addresses = proxies.map { $0 == "unix" ? ClientAddress([]) : ClientAddress($0) }
        guard !addresses.contains(nil) else { return nil }
        self.proxies = Set(addresses.compactMap { $0?.exact })
    }

    /// The request as the proxy got it, with the path below the base; `nil` if the path is not below it.
    func original(_ request: HTTPRequest) -> HTTPRequest? {
        guard !base.isEmpty || !proxies.isEmpty else { return request }
        // Probes and Prometheus ask without a proxy.
        let isBelow = request.path.hasPrefix(base + "/")
        guard isBelow || RouteTable.probes.contains(request.path) || request.path == "/metrics" else { return nil }
        return request.forwarded(
            path: isBelow ? String(request.path.dropFirst(base.count)) : request.path, client: client(request))
    }

    /// The last address that no trusted proxy has, because a client can send any others before it.
    private func client(_ request: HTTPRequest) -> ClientAddress {
        guard proxies.contains(request.client.exact) else { return request.client }
        let chain = request.values("x-forwarded-for").joined(separator: ",").split(separator: ",")
        for text in chain.reversed() {
            guard let address = ClientAddress(text.filter { $0 != " " }) else { return request.client }
            if !proxies.contains(address.exact) { return address }
        }
        return request.client
    }
}
