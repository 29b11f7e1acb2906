package import Configuration
import Crypto

/// The location of Redis, and the account to use.
package struct RedisURL: Sendable, Hashable {
    /// How a server is reached.
    package enum Address: Sendable, Hashable {
        case tcp(host: String, port: UInt16)
        case tls(host: String, port: UInt16)
        case unix(path: String)
    }

    /// What kind of server is at the addresses.
    package enum Topology: Sendable, Hashable {
        /// The Redis server itself.
        case server
        /// Sentinels that monitor the master of that name.
        case sentinels(master: String)
        /// Some nodes of a cluster.
        case cluster
    }

    /// The server, or the sentinels or nodes to query; never empty.
    package internal(set) var addresses: [Address]
    package internal(set) var topology = Topology.server
    /// The ACL user; `nil` means the default user.
    package internal(set) var user: String?
    package internal(set) var database = 0
    var files = TLSFiles()
    var password: String?
    /// The account for the sentinels, which is independent of the server's.
    var sentinelUser: String?
    var sentinelPassword: String?

    init(address: Address) { addresses = [address] }

    /// `RESPOOL_REDIS_URL`, or `redis://127.0.0.1:6379/0`.
    package init(_ environment: Environment) throws(RedisError) {
        let setting = Settings.redisURL
        guard let text = environment.text(setting) else {
            self.init(address: .tcp(host: "127.0.0.1", port: Self.defaultPort))
            return
        }
        do throws(RedisError) { try self.init(text) } catch { throw .url("\(setting.name): \(error)") }
    }

    /// The TCP ports in the URL. For sentinels, the default port of Redis is added, because most monitored servers use
    /// it.
    package var ports: [UInt16] {
        let named = addresses.compactMap(\.port)
        guard case .sentinels = topology, !named.contains(Self.defaultPort) else { return named }
        return named + [Self.defaultPort]
    }

    /// The same location without credentials and client certificate.
    package var withoutAccount: RedisURL {
        var url = self
        (url.user, url.password, url.database) = (nil, nil, 0)
        (url.files.certificate, url.files.key) = (nil, nil)
        return url
    }

    /// Whether the client presents a certificate to the server.
    package var hasCertificate: Bool { files.certificate != nil }

    static let defaultPort: UInt16 = 6379

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
    /// The URL with its password masked.
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

    /// Contains only the description, so that a dump shows no password.
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
