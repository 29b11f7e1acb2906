import Lifecycle
import Redis

/// Whether a Redis that is reached over the network serves anybody who reaches its port, as a child that is taken over might.
struct PasswordCheck: Sendable {
    let url: RedisURL
    /// Whether no job may run before it is known that a password is asked for.
    let isRequired: Bool
    let log: Log

    private static let danger =
        "so a respool-transfer that is taken over, like everybody who reaches that port, could read and change all queues"
    private static let help = "set requirepass or ACL users and name one in RESPOOL_REDIS_URL, or use a unix socket"

    /// Asks as soon as Redis answers, and says what is wrong; false if the worker may not go on.
    func run() async -> Bool {
        guard !url.ports.isEmpty, await isOpen() else { return true }
        let fact = "Redis answers without a password at \(url.withoutAccount)"
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
                // Who has no certificate may have his connection cut without a word.
                if url.hasCertificate, (try? await own.send(["PING"])) != nil { return false }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        return false
    }
}
