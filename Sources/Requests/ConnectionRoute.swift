import CCurl
import JobSchema
import SlotIPC

/// The route of a request to its server: the addresses that may be tried, and whether a proxy is used.
struct ConnectionRoute {
    private enum Stage {
        case direct
        /// The addresses of the host are checked before the proxy is used.
        case checking(proxy: String)
        case proxied
    }

    let host: String
    /// Whether the route uses TLS.
    let isSecure: Bool
    private let port: Int
    private let addresses: AddressPolicy
    private var stage = Stage.direct
    /// Whether any address was refused, and whether any was permitted.
    private var (hasRefused, hasPermitted) = (false, false)

    init(to url: String, policy: TransferPolicy, addresses: AddressPolicy) {
        if let place = ParsedURL.parse(url) { (host, port) = (place.host, place.port) } else { (host, port) = ("", 0) }
        self.addresses = addresses
        isSecure = url.prefix(6).lowercased() == "https:"
        // The web proxy is not used for FTP and SFTP.
        if FileScheme(of: url) == nil, let proxy = policy.proxy(to: host, port: port) {
            stage = .checking(proxy: proxy)
        }
    }

    var isProxied: Bool {
        if case .proxied = stage { true } else { false }
    }

    private var isChecking: Bool {
        if case .checking = stage { true } else { false }
    }

    /// Whether a socket may be opened to the address, which belongs to the host or to the proxy set by the operator.
    mutating func opens(_ address: IPAddress) -> Bool {
        if isProxied { return true }
        guard addresses.permits(address, host: host, port: port) else {
            hasRefused = true
            return false
        }
        hasPermitted = true
        return !isChecking
    }

    /// Whether the URL contains a host name rather than an address.
    var isByName: Bool { IPAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host) == nil }

    /// Whether no address may be tried. A proxy resolves the name itself and may use any address, so all of them must be
    /// permitted.
    var isDenied: Bool { hasRefused && (!hasPermitted || isChecking) }

    /// The proxy to use next, once all addresses of the host have been checked.
    mutating func nextProxy(after code: CURLcode) -> String? {
        guard case .checking(let proxy) = stage, code == CURLE_COULDNT_CONNECT, hasPermitted, !hasRefused else {
            return nil
        }
        stage = .proxied
        return proxy
    }
}

extension TransferPolicy {
    /// The proxy for requests to the host; `nil` for a direct connection.
    fileprivate func proxy(to host: String, port: Int) -> String? {
        let isException = proxyExceptions.contains {
            HostPattern($0).matches(host, IPAddress(host), port: port, andBelow: true)
        }
        return isException ? nil : proxy
    }
}

extension Failure {
    /// The failure to reach the proxy, or of the proxy to reach the server; `nil` if the proxy is not the cause.
    static func proxy(_ code: CURLcode, _ connectStatus: Int) -> Failure? {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            Failure(.sourceUnreachable, "the proxy of RESPOOL_PROXY is unreachable")
        case _ where connectStatus >= 300: proxyRefuses(connectStatus)
        default: nil
        }
    }

    static func proxyRefuses(_ status: Int) -> Failure {
        Failure(
            .sourceUnreachable,
            "the proxy of RESPOOL_PROXY does not connect to the server: it responded with status \(status)")
    }
}
