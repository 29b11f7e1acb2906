import Crypto
import Text

extension RedisURL {
    /// Parses `redis://[user][:password]@host:port/db`, `rediss://…` (TLS), `unix:///path?db=n` (also `redis+unix://`),
    /// `redis+sentinel://…@host:port,host:port/name/db` and `redis+cluster://…@host:port,host:port` (`rediss+…` for
    /// TLS).
    ///
    /// Query parameters: `db`, `user`, `password`; for TLS `ca` (a file of trusted certificates), `cert` and `key`; for
    /// sentinels `sentinel_user` and `sentinel_password`. Characters other than letters, digits and `-._~` may be
    /// percent-encoded. Error messages never contain a password.
    package init(_ text: String) throws(RedisError) {
        guard let separator = text.firstRange(of: "://") else {
            throw .url("the Redis address has no scheme; write redis://host:port/db, rediss://… or unix:///path")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        let (main, query) = text[separator.upperBound...].split(before: "?")
        let isSocket = scheme.hasSuffix("unix")
        // The last @ ends the credentials, so a password may contain an unencoded one. The path of a socket may contain
        // one too.
        let at = (isSocket ? main.prefix { $0 != "/" } : main).lastIndex(of: "@")
        let location = main[(at.map(main.index(after:)) ?? main.startIndex)...]
        let host = location.prefix { $0 != "/" }
        let path = location[host.endIndex...].dropFirst()
        // If a port is not numeric, the '?' may be part of a password, which must not appear in a message.
        let hasPort = host.split(separator: ",").allSatisfy { $0.drop { $0 != ":" }.dropFirst().allSatisfy(\.isNumber) }
        guard isSocket || at != nil || hasPort || query?.contains("@") != true else {
            throw .url("the Redis address has a '?' before its '@'; write it as %3F")
        }

        switch scheme {
        case "redis", "rediss": self.init(address: try Self.endpoint(host, scheme))
        case "unix", "redis+unix": self.init(address: try Self.socket(host, location[host.endIndex...]))
        case "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster":
            let hosts = host.split(separator: ",", omittingEmptySubsequences: false)
            self.init(address: try Self.endpoint(hosts[0], scheme))
            for host in hosts.dropFirst() { addresses.append(try Self.endpoint(host, scheme)) }
        default:
            throw .url(
                "the Redis address has the scheme '\(scheme)'; use redis, redis+sentinel, redis+cluster, these with rediss "
                    + "(TLS), or unix")
        }
        if let at { try setCredentials(main[..<at]) }
        if scheme.hasSuffix("cluster") {
            topology = .cluster
            guard path.allSatisfy({ $0 == "0" }) else {
                throw .url("the Redis address has the database '\(path)'; a cluster has only database 0")
            }
        } else if scheme.hasSuffix("sentinel") {
            try setMaster(path)
        } else if !isSocket, !path.isEmpty {
            try setDatabase(path)
        }
        if let query { try setParameters(query) }
        guard user == nil || password != nil, sentinelUser == nil || sentinelPassword != nil else {
            throw .url("the Redis address has a user but no password; write redis://user:password@host:port")
        }
        guard topology != .cluster || database == 0 else {
            throw .url("the Redis address has the database '\(database)'; a cluster has only database 0")
        }
    }

    private static func endpoint(_ text: Substring, _ scheme: String) throws(RedisError) -> Address {
        func address(_ host: String, _ port: UInt16) -> Address {
            scheme.hasPrefix("rediss") ? .tls(host: host, port: port) : .tcp(host: host, port: port)
        }
        let closing = text.hasPrefix("[") ? text.firstIndex(of: "]") : nil
        let colon = text[(closing ?? text.startIndex)...].lastIndex(of: ":")
        var host = text[..<(colon ?? text.endIndex)]
        if text.hasPrefix("[") {
            guard let closing, text.index(after: closing) == host.endIndex else {
                throw .url("the Redis address has the host '\(host)'; write an IPv6 address as [::1]")
            }
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw .url("the Redis address has the host '\(host)'; write an IPv6 address as [::1]")
        }
        guard let colon else { return address(try name(host), scheme.hasSuffix("sentinel") ? 26379 : defaultPort) }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits), port > 0 else {
            throw .url("the Redis address has the port '\(digits)'; use a number from 1 to 65535")
        }
        return address(try name(host), port)
    }

    private static func name(_ host: Substring) throws(RedisError) -> String {
        guard let name = PercentEncoding.decoded(host), !name.utf8.contains(0) else {
            throw .url("the Redis address has the host '\(host)', which is not percent-encoded correctly")
        }
        return name.isEmpty ? "127.0.0.1" : name
    }

    private static func socket(_ host: Substring, _ path: Substring) throws(RedisError) -> Address {
        guard host.isEmpty, let name = PercentEncoding.decoded(path), name.count > 1 else {
            throw .url("the Redis address has no absolute socket path; write unix:///path/to/redis.sock")
        }
        // The path in `sockaddr_un` has 107 bytes and a terminating zero.
        guard name.utf8.count <= 107, !name.utf8.contains(0) else {
            throw .url("the socket path '\(name)' exceeds 107 bytes, the limit of Unix sockets")
        }
        return .unix(path: name)
    }

    private mutating func setCredentials(_ text: Substring) throws(RedisError) {
        let (name, secret) = text.split(before: ":")
        if !name.isEmpty { user = try Self.decoded(name, "user") }
        if let secret, !secret.isEmpty { password = try Self.decoded(secret, "password") }
    }

    /// Parses `name` or `name/db`.
    private mutating func setMaster(_ path: Substring) throws(RedisError) {
        let (text, number) = path.split(before: "/")
        guard let name = PercentEncoding.decoded(text), !name.isEmpty else {
            throw .url("the Redis address has no master name; write redis+sentinel://host:port,host:port/name")
        }
        topology = .sentinels(master: name)
        if let number, !number.isEmpty { try setDatabase(number) }
    }

    private mutating func setDatabase(_ text: Substring) throws(RedisError) {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else {
            throw .url("the Redis address has the database '\(text)'; use a number such as 0")
        }
        database = number
    }

    private mutating func setParameters(_ query: Substring) throws(RedisError) {
        for parameter in query.split(separator: "&") {
            let (name, value) = parameter.split(before: "=")
            switch name {
            case "db": try setDatabase(value ?? "")
            case "user", "username": user = try Self.decoded(value ?? "", "user")
            case "password": password = try Self.decoded(value ?? "", "password")
            case "ca", "cert", "key":
                guard case .tls = addresses[0] else {
                    throw .url("the Redis address has the parameter '\(name)', which requires TLS; use rediss://")
                }
                let file = try Self.decoded(value ?? "", "parameter '\(name)'")
                if name == "ca" {
                    files.authorities = file
                } else if name == "key" {
                    files.key = file
                } else {
                    files.certificate = file
                }
            case "sentinel_user" where isSentinel: sentinelUser = try Self.decoded(value ?? "", "sentinels' user")
            case "sentinel_password" where isSentinel:
                sentinelPassword = try Self.decoded(value ?? "", "sentinels' password")
            default:
                let more = isSentinel ? ", sentinel_user, sentinel_password" : ""
                throw .url(
                    "the Redis address has the unknown parameter '\(name)'; use db, user, password, ca, cert, key\(more)"
                )
            }
        }
        guard files.key == nil || files.certificate != nil else {
            throw .url("the Redis address has a key but no certificate; add the parameter 'cert'")
        }
    }

    private var isSentinel: Bool { if case .sentinels = topology { true } else { false } }

    private static func decoded(_ text: Substring, _ what: String) throws(RedisError) -> String {
        guard let decoded = PercentEncoding.decoded(text), !decoded.isEmpty, !decoded.utf8.contains(0) else {
            throw .url("the \(what) in the Redis address is empty or not percent-encoded correctly")
        }
        return decoded
    }
}

private extension Substring {
    /// The text before the first such character, and the text after it.
    func split(before separator: Character) -> (Substring, Substring?) {
        guard let index = firstIndex(of: separator) else { return (self, nil) }
        return (self[..<index], self[self.index(after: index)...])
    }
}
