import Lifecycle
import Redis

/// Checks whether a Redis server on the network accepts clients without a password. A compromised child could then use it.
struct PasswordCheck: Sendable {
    let url: RedisURL
    /// Whether no job may run before the check has passed.
    let isRequired: Bool
    let log: Log

    private static let danger =
        "so a compromised respool-transfer, like any client of that port, can read and change all queues"
    private static let help = "set requirepass or ACL users and give one in RESPOOL_REDIS_URL, or use a Unix socket"

    /// Runs the check as soon as Redis replies, and logs a problem; false if the worker must not start.
    func run() async -> Bool {
        guard !url.ports.isEmpty, await isOpen() else { return true }
        let fact = "Redis at \(url.withoutAccount) does not require a password"
        guard isRequired else {
            log.warning("\(fact), \(Self.danger): \(Self.help)")
            return true
        }
        log.error("the worker cannot start: RESPOOL_SANDBOX is `require`, and \(fact), \(Self.danger): \(Self.help)")
        return false
    }

    private func isOpen() async -> Bool {
        let stranger = RedisClient(url: url.withoutAccount, name: "respool-check", timeout: .seconds(2))
        let own = RedisClient(url: url, name: "respool-check", timeout: .seconds(2))
        let answer = await isOpen(to: stranger, own)
        for client in [stranger, own] { await client.close() }
        return answer
    }

    private func isOpen(to stranger: RedisClient, _ own: RedisClient) async -> Bool {
        while !Task.isCancelled {
            do throws(RedisError) {
                _ = try await stranger.send(["PING"])
                return true
            } catch {
                if case .server = error, !error.isTransient { return false }
                // A server that requires a client certificate may close a connection without one.
                if url.hasCertificate, (try? await own.send(["PING"])) != nil { return false }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        return false
    }
}
