import Lifecycle

/// A client for commands that Redis answers when something happens, such as `XREADGROUP … BLOCK`.
///
/// It has its own connection and thread. A command is never sent twice. If no answer comes within the time that Redis may
/// hold the command and one second more, the connection is taken for dead and closed; the next call makes another.
package actor BlockingRedisClient {
    private let executor = ThreadExecutor(label: "redis-blocking")
    private let interruption = Interruption()
    private let timeout: Duration
    private var link: RedisLink

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A client by that name, in a cluster of the node that has the key; `timeout` is for connecting.
    package init(url: RedisURL, name: String, key: String? = nil, timeout: Duration = .seconds(3)) {
        self.timeout = timeout
        link = RedisLink(url: url, name: name, key: key, interruption: interruption)
    }

    /// Sends a command that Redis may hold for the duration, and answers the reply; an error reply is thrown.
    ///
    /// A reply of more bytes than the limit is not read to its end: it throws `.replyTooLarge`, and the connection is closed.
    /// Cancelling the task ends the call at once with `.closed` and disconnects; what Redis was about to hand over is lost.
    package nonisolated func block(
        _ command: RedisCommand, for hold: Duration, maxReplyBytes: Int = .max
    ) async throws(RedisError) -> RedisValue {
        // The cancellation handler loses the type of what is thrown.
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
