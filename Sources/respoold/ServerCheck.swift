import Jobs
import Lifecycle
import Redis

/// Whether the Redis server is one that jobs are safe with.
struct ServerCheck: Sendable {
    let queue: JobQueue
    let log: Log

    /// Words with which Redis refuses a client, which waiting does not heal.
    private static let refusals = ["NOAUTH", "WRONGPASS"]

    /// Asks the server as soon as it answers, and warns of what is wrong; false if it refuses this client.
    func run() async -> Bool {
        while !Task.isCancelled {
            do throws(QueueError) {
                for sentence in try await queue.advice() { log.warning(sentence) }
                return true
            } catch {
                if case .redis(let refusal) = error {
                    if refusal.isServer("NOPERM") {
                        log.warning(
                            "this Redis account may not use INFO, so maxmemory-policy and version are not checked")
                        return true
                    }
                    if Self.refusals.contains(where: refusal.isServer) {
                        log.error("Redis refuses this worker: \(error); give user and password in RESPOOL_REDIS_URL")
                        return false
                    }
                }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        return true
    }
}
