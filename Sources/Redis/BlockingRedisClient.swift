import Lifecycle

/// A client for commands that Redis may hold until something happens, such as `XREADGROUP … BLOCK`.
///
/// It has a separate connection and thread. A command is never sent twice. If no reply comes within one second after
/// the time for which Redis may hold the command, the connection is considered dead and closed; the next call opens
/// another.
package actor BlockingRedisClient {
    private let executor = ThreadExecutor(label: "redis-blocking")
    private let interruption = Interruption()
    private let timeout: Duration
    private var link: RedisLink

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// `name` is the client's name. In a cluster, the client connects to the node that has the key. `timeout` is for
    /// connecting.
    package init(url: RedisURL, name: String, key: String? = nil, timeout: Duration = .seconds(3)) {
        self.timeout = timeout
        link = RedisLink(url: url, name: name, key: key, interruption: interruption)
    }

    /// Sends a command that Redis may hold for the duration, and returns the reply; an error reply is thrown.
    ///
    /// A reply with more bytes than the limit is not read completely: the call throws `.replyTooLarge`, and the
    /// connection is closed. Cancelling the task ends the call at once with `.closed` and disconnects; a reply that
    /// Redis was about to send is lost.
    package nonisolated func block(
        _ command: RedisCommand, for hold: Duration, maxReplyBytes: Int = .max
    ) async throws(RedisError) -> RedisValue {
        // `withTaskCancellationHandler` would lose the type of the error, so the closure returns a `Result`.
        let result = await withTaskCancellationHandler {
            await exchange(command, hold, maxReplyBytes)
        } onCancel: {
            interruption.wake()
        }
        return try result.get().get()
    }

    /// Ends the call in progress and all later ones with `.closed`, and disconnects.
    package nonisolated func close() async {
        interruption.close()
        await disconnect()
    }

    private func exchange(
        _ command: RedisCommand, _ hold: Duration, _ maxReplyBytes: Int
    ) -> Result<RedisValue, RedisError> {
        guard !Task.isCancelled else { return .failure(.closed) }
        do throws(RedisError) {
            try link.connect(until: Deadline(after: timeout))
            let deadline = Deadline(after: hold + .seconds(1))
            return .success(try link.send([command], until: deadline, maxReplyBytes: maxReplyBytes)[0])
        } catch {
            return .failure(error)
        }
    }

    private func disconnect() { link.close() }
}
