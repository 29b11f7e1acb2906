import Crypto
import Lifecycle

/// Where Redis is, and as whom to speak to it.
package struct RedisURL: Sendable, Hashable {
    /// How a server is reached.
    package enum Address: Sendable, Hashable {
        case tcp(host: String, port: UInt16)
        case tls(host: String, port: UInt16)
        case unix(path: String)
    }

    /// What is at the addresses.
    package enum Topology: Sendable, Hashable {
        /// The server itself.
        case server
        /// Sentinels, which know the master by that name.
        case sentinels(master: String)
        /// Some nodes of a cluster.
        case cluster
    }

    /// The server, or the sentinels or nodes to ask; never none.
    package internal(set) var addresses: [Address]
    package internal(set) var topology = Topology.server
    /// The ACL user; nothing means the default user.
    package internal(set) var user: String?
    package internal(set) var database = 0
    var files = TLSFiles()
    var password: String?
    /// The account at the sentinels, which is not the server's.
    var sentinelUser: String?
    var sentinelPassword: String?

    init(address: Address) { addresses = [address] }

    /// `RESPOOL_REDIS_URL`, or `redis://127.0.0.1:6379/0`.
    package static func fromEnvironment() throws(RedisError) -> RedisURL {
        guard let text = Environment.value("RESPOOL_REDIS_URL") else {
            return RedisURL(address: .tcp(host: "127.0.0.1", port: usualPort))
        }
        do throws(RedisError) { return try RedisURL(text) } catch { throw .url("RESPOOL_REDIS_URL: \(error)") }
    }

    /// The ports that it leads to over TCP, as far as it names them; sentinels mostly watch over servers at Redis' own.
    package var ports: [UInt16] {
        let named = addresses.compactMap(\.port)
        guard case .sentinels = topology, !named.contains(Self.usualPort) else { return named }
        return named + [Self.usualPort]
    }

    /// The same place for somebody who has no password, and no certificate to show.
    package var withoutAccount: RedisURL {
        var url = self
        (url.user, url.password, url.database) = (nil, nil, 0)
        (url.files.certificate, url.files.key) = (nil, nil)
        return url
    }

    /// Whether a certificate is shown to the server.
    package var hasCertificate: Bool { files.certificate != nil }

    static let usualPort: UInt16 = 6379

    /// The server at the address, with the same account, database and files.
    func server(at address: Address) -> RedisURL {
        var url = self
        (url.addresses, url.topology) = ([address], .server)
        return url
    }

    /// The sentinel at the address, with the sentinels' account.
    func sentinel(at address: Address) -> RedisURL {
        var url = server(at: address)
        (url.user, url.password, url.database) = (sentinelUser, sentinelPassword, 0)
        return url
    }

    /// The address of another server of the same kind.
    func address(host: String, port: UInt16) -> Address {
        if case .tls = addresses[0] { .tls(host: host, port: port) } else { .tcp(host: host, port: port) }
    }
}

extension RedisURL.Address {
    var host: String? {
        switch self {
        case .tcp(let host, _), .tls(let host, _): host
        case .unix: nil
        }
    }

    var port: UInt16? {
        switch self {
        case .tcp(_, let port), .tls(_, let port): port
        case .unix: nil
        }
    }
}

extension RedisURL: CustomStringConvertible, CustomReflectable {
    /// The URL with its password struck out.
    package var description: String {
        let secret = password == nil ? "" : ":***"
        let credentials = user == nil && password == nil ? "" : "\(user ?? "")\(secret)@"
        if case .unix(let path) = addresses[0] {
            return "unix://\(credentials)\(path)" + (database == 0 ? "" : "?db=\(database)")
        }
        let hosts = addresses.map(Self.text).joined(separator: ",")
        return switch topology {
        case .server: "\(scheme)://\(credentials)\(hosts)/\(database)"
        case .sentinels(let master): "\(scheme)+sentinel://\(credentials)\(hosts)/\(master)/\(database)"
        case .cluster: "\(scheme)+cluster://\(credentials)\(hosts)"
        }
    }

    /// Only the description, so that a dump shows no password.
    package var customMirror: Mirror { Mirror(self, children: ["url": description]) }

    private var scheme: String { if case .tls = addresses[0] { "rediss" } else { "redis" } }

    private static func text(_ address: Address) -> String {
        switch address {
        case .tcp(let host, let port), .tls(let host, let port):
            (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
        case .unix(let path): path
        }
    }
}
