import Lifecycle
package import Redis

/// Blocks an idle worker until there may be something to claim.
///
/// It reads the inbox through a consumer group in which all workers share one consumer, so that Redis wakes one worker
/// for each entry. An entry is only a signal here: `claim` takes the jobs. An entry that is too large to be a job is
/// therefore not read completely.
package struct Doorbell: Sendable {
    private let client: BlockingRedisClient
    private let keys: QueueKeys

    /// The client is occupied while the doorbell waits, so it must not be shared.
    package init(client: BlockingRedisClient, name: QueueName = .default) {
        self.client = client
        keys = QueueKeys(name)
    }

    /// Why the wait ended.
    package enum Answer: Sendable, Hashable {
        /// An entry was added: claim, or pass the bell on to another worker.
        case rang
        /// No entry was added in time. Claim nevertheless, because a job may have become due.
        case timeout
    }

    /// Waits for an entry, for at most the duration (1 ms to 1 s); cancelling the task ends the wait.
    package func wait(for duration: Duration) async throws(QueueError) -> Answer {
        let duration = min(max(duration, .milliseconds(1)), .seconds(1))
        let command: RedisCommand = [
            "XREADGROUP", "GROUP", "bell", "w", "COUNT", "1", "BLOCK", .integer(duration.milliseconds), "NOACK",
            "STREAMS",
            .text(keys.inbox), ">",
        ]
        do throws(RedisError) {
            let reply = try await client.block(command, for: duration, maxReplyBytes: Self.maxReplyBytes)
            return reply.isNull ? .timeout : .rang
        } catch {
            if case .replyTooLarge = error { return .rang }
            guard error.isServer("NOGROUP") || error.isServer("UNBLOCKED") else { throw .redis(error) }
            try await open()
            return .rang
        }
    }

    /// A multiple of the size of a job. Any client can push an entry of hundreds of megabytes or of a million fields.
    private static let maxReplyBytes = 1 << 20

    /// Creates the consumer group, and the inbox if it is missing.
    private func open() async throws(QueueError) {
        do throws(RedisError) {
            _ = try await client.block(
                ["XGROUP", "CREATE", .text(keys.inbox), "bell", "0", "MKSTREAM"], for: .seconds(1))
        } catch {
            guard error.isServer("BUSYGROUP") else { throw .redis(error) }
        }
    }
}
