import Lifecycle

/// Where a Redis server is, and as whom to speak to it.
package struct RedisURL: Sendable, Hashable {
    /// How the server is reached.
    package enum Address: Sendable, Hashable {
        case tcp(host: String, port: UInt16)
        case tls(host: String, port: UInt16)
        case unix(path: String)
    }

    package internal(set) var address: Address
    /// The ACL user; nothing means the default user.
    package internal(set) var user: String?
    package internal(set) var database = 0
    /// A file of certificates in PEM to trust instead of the system's; only for TLS.
    package internal(set) var authorities: String?
    var password: String?

    init(address: Address) { self.address = address }

    /// `RESPOOL_REDIS_URL`, or `redis://127.0.0.1:6379/0`.
    package static func fromEnvironment() throws(RedisError) -> RedisURL {
        guard let text = Environment.value("RESPOOL_REDIS_URL") else {
            return RedisURL(address: .tcp(host: "127.0.0.1", port: 6379))
        }
        do throws(RedisError) { return try RedisURL(text) } catch { throw .url("RESPOOL_REDIS_URL: \(error)") }
    }
}

extension RedisURL: CustomStringConvertible, CustomReflectable {
    /// The URL with its password struck out.
    package var description: String {
        let secret = password == nil ? "" : ":***"
        let credentials = user == nil && password == nil ? "" : "\(user ?? "")\(secret)@"
        switch address {
        case .tcp(let host, let port): return "redis://\(credentials)\(Self.bracketed(host)):\(port)/\(database)"
        case .tls(let host, let port): return "rediss://\(credentials)\(Self.bracketed(host)):\(port)/\(database)"
        case .unix(let path): return "unix://\(credentials)\(path)" + (database == 0 ? "" : "?db=\(database)")
        }
    }

    /// Only the description, so that a dump shows no password.
    package var customMirror: Mirror { Mirror(self, children: ["url": description]) }

    private static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
