import Lifecycle
package import Redis

/// Where an idle worker waits until there is something to claim.
///
/// It reads the inbox through a group with one consumer for all, so that Redis wakes one worker for each entry. What it
/// reads is only a bell: jobs move in `claim`. So of an entry that is too large for any job it reads no more than that.
package struct Doorbell: Sendable {
    private let client: BlockingRedisClient
    private let keys: QueueKeys

    package init(client: BlockingRedisClient, name: QueueName = .default) {
        self.client = client
        keys = QueueKeys(name)
    }

    package enum Answer: Sendable, Hashable {
        /// Somebody rang: claim, or ring again.
        case rang
        /// Nobody rang in time: claim all the same, for something may have become due.
        case timeout
    }

    /// Waits until somebody rings, for at most the duration (1 ms to 1 s); cancelling the task ends it.
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

    /// Many times what a job may have; anybody may push an entry of hundreds of megabytes, or of a million fields.
    private static let maxReplyBytes = 1 << 20

    /// Creates the group, and the inbox with it.
    private func open() async throws(QueueError) {
        do throws(RedisError) {
            _ = try await client.block(
                ["XGROUP", "CREATE", .text(keys.inbox), "bell", "0", "MKSTREAM"], for: .seconds(1))
        } catch {
            guard error.isServer("BUSYGROUP") else { throw .redis(error) }
        }
    }
}
