package import Redis

/// Where an idle worker waits until there is something to claim.
package struct Doorbell: Sendable {
    private let client: BlockingRedisClient
    private let keys: QueueKeys

    package init(client: BlockingRedisClient, name: QueueName = .default) {
        self.client = client
        keys = QueueKeys(name)
    }

    package enum Answer: Sendable, Hashable {
        /// Somebody rang: claim.
        case rang
        /// Nobody rang in time: claim all the same, for something may have become due.
        case timeout
    }

    /// Waits until somebody rings, for at most the duration (1 ms to 1 s).
    package func wait(for duration: Duration) async throws(QueueError) -> Answer { fatalError("in the making") }
}
