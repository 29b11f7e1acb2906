import Jobs
import Lifecycle
import Redis

/// Checks whether the Redis servers of the queues are configured safely for jobs. In a cluster, there may be several.
struct ServerCheck: Sendable {
    let queues: [JobQueue]
    let log: Log

    /// Error codes with which Redis refuses a client, and which do not go away by waiting.
    private static let refusals = ["NOAUTH", "WRONGPASS"]

    /// Checks each server as soon as it replies, and logs each warning once; false if a server refuses this client.
    func run() async -> Bool {
        var warnings: Set<String> = []
        for queue in queues {
            guard await check(queue, &warnings) else { return false }
        }
        return true
    }

    private func check(_ queue: JobQueue, _ warnings: inout Set<String>) async -> Bool {
        while !Task.isCancelled {
            do throws(QueueError) {
                for sentence in try await queue.configurationWarnings() where warnings.insert(sentence).inserted {
                    log.warning(sentence)
                }
                return true
            } catch {
                if case .redis(let refusal) = error {
                    if refusal.isServer("NOPERM") {
                        let sentence =
                            "the Redis user has no permission for INFO, so maxmemory-policy and version are not checked"
                        if warnings.insert(sentence).inserted { log.warning(sentence) }
                        return true
                    }
                    if Self.refusals.contains(where: refusal.isServer) {
                        log.error("Redis rejects this worker: \(error); give user and password in RESPOOL_REDIS_URL")
                        return false
                    }
                }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        return true
    }
}
