import CCurl
import JobSchema
import SlotIPC

/// The way of a request to its server: which addresses may be tried, and whether a proxy is asked in their place.
struct Route {
    private enum Stage {
        case direct
        /// The addresses of the host are looked at before that proxy is asked for it.
        case checking(proxy: String)
        case proxied
    }

    let host: String
    /// Whether it is over TLS.
    let isSecure: Bool
    private let port: Int
    private let addresses: AddressPolicy
    private var stage = Stage.direct
    /// Whether an address was refused, and whether one was not.
    private var (hasRefused, hasPermitted) = (false, false)

    init(to url: String, policy: TransferPolicy, addresses: AddressPolicy) {
        if let place = ParsedURL.parse(url) { (host, port) = (place.host, place.port) } else { (host, port) = ("", 0) }
        self.addresses = addresses
        isSecure = url.prefix(6).lowercased() == "https:"
        // A proxy of the web is not for servers of files.
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

    /// Whether a socket is to be opened to the address: one of the host's, or of the proxy, which the operator has named.
    mutating func opens(_ address: IPAddress) -> Bool {
        if isProxied { return true }
        guard addresses.permits(address, host: host, port: port) else {
            hasRefused = true
            return false
        }
        hasPermitted = true
        return !isChecking
    }

    /// Whether the URL names the host, and no address of it.
    var isByName: Bool { IPAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host) == nil }

    /// Whether no address may be tried. A proxy resolves the name anew and may take any, so for it all must be allowed.
    var isDenied: Bool { hasRefused && (!hasPermitted || isChecking) }

    /// The proxy that is asked next, once all addresses of the host are looked at.
    mutating func nextProxy(after code: CURLcode) -> String? {
        guard case .checking(let proxy) = stage, code == CURLE_COULDNT_CONNECT, hasPermitted, !hasRefused else {
            return nil
        }
        stage = .proxied
        return proxy
    }
}

extension TransferPolicy {
    /// The proxy for requests to the host; nothing where they go there themselves.
    fileprivate func proxy(to host: String, port: Int) -> String? {
        let isException = proxyExceptions.contains {
            HostPattern($0).matches(host, IPAddress(host), port: port, andBelow: true)
        }
        return isException ? nil : proxy
    }
}

extension Failure {
    /// What kept a proxy from being asked, or from connecting to the server; nothing if it was not the proxy.
    static func proxy(_ code: CURLcode, _ connectStatus: Int) -> Failure? {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            Failure(.sourceUnreachable, "the proxy of RESPOOL_PROXY cannot be reached")
        case _ where connectStatus >= 300: proxyRefuses(connectStatus)
        default: nil
        }
    }

    static func proxyRefuses(_ status: Int) -> Failure {
        Failure(
            .sourceUnreachable,
            "the proxy of RESPOOL_PROXY does not connect to the server: it answered with status \(status)")
    }
}
