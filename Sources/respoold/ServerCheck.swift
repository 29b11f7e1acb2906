import Jobs
import Lifecycle
import Redis

/// Whether the Redis server is one that jobs are safe with.
struct ServerCheck: Sendable {
    let client: RedisClient
    let log: Log

    /// Words with which Redis refuses a client, which waiting does not heal.
    private static let refusals = ["NOAUTH", "WRONGPASS", "NOPERM"]

    /// Asks the server as soon as it answers, and warns of what is wrong; false if it refuses this client.
    func run() async -> Bool {
        while !Task.isCancelled {
            do throws(RedisError) {
                warn(of: try await client.send(["INFO"]).string ?? "")
                return true
            } catch {
                if error.isServer("NOPERM") {
                    log.warning("this Redis account may not use INFO, so maxmemory-policy and version are not checked")
                    return true
                }
                if Self.refusals.contains(where: error.isServer) {
                    log.error("Redis refuses this worker: \(error); give user and password in RESPOOL_REDIS_URL")
                    return false
                }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        return true
    }

    private func warn(of information: String) {
        let server = ServerInformation(information)
        if let policy = server["maxmemory_policy"], policy != "noeviction" {
            log.warning(
                "maxmemory-policy is \(policy), so Redis may throw jobs away: set it to noeviction")
        }
        if let version = server["redis_version"], server["valkey_version"] == nil, !Self.isSupported(version) {
            log.warning("this is Redis \(version); respool needs 6.2 or later, or Valkey")
        }
    }

    private static func isSupported(_ version: String) -> Bool {
        let numbers = version.split(separator: ".").compactMap { Int($0) }
        return (numbers.first ?? 0, numbers.dropFirst().first ?? 0) >= (6, 2)
    }
}

/// The answer to `INFO`: lines of `name:value`.
private struct ServerInformation {
    private let values: [Substring: Substring]

    init(_ text: String) {
        let pairs = text.split { $0.isNewline }.compactMap { line -> (Substring, Substring)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon], line[line.index(after: colon)...])
        }
        values = Dictionary(pairs) { $1 }
    }

    subscript(_ name: Substring) -> String? { values[name].map(String.init) }
}
