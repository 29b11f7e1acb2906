package import Redis

/// One queue on one server: every change of a job is one script, run whole or not at all.
package struct JobQueue: Sendable {
    package let name: QueueName
    package let settings: QueueSettings
    package let keys: QueueKeys
    let client: RedisClient

    package init(client: RedisClient, name: QueueName = .default, settings: QueueSettings = .init()) {
        self.client = client
        self.name = name
        self.settings = settings
        keys = QueueKeys(name)
    }

    /// Runs a script on the queue.
    func run(_ script: RedisScript, _ arguments: [RedisArgument]) async throws(QueueError) -> ScriptAnswer {
        try await run(script, each: [arguments]) { _ in true }[0]
    }

    /// Runs a script on the queue with each of the arguments, until it answers what is not wanted.
    func run(
        _ script: RedisScript, each arguments: [[RedisArgument]], while isWanted: @Sendable (RedisValue) -> Bool
    ) async throws(QueueError) -> [ScriptAnswer] {
        do throws(RedisError) {
            return try await client.run(script, keys: [keys.meta], each: arguments, while: isWanted)
                .map { ScriptAnswer(script: script.name, value: $0) }
        } catch {
            throw .redis(error)
        }
    }

    /// What `TIME` answers, in milliseconds since 1970.
    static func milliseconds(_ time: RedisValue) -> Int64 {
        (time.array?.first?.integer ?? 0) * 1000 + (time.array?.last?.integer ?? 0) / 1000
    }

    /// Sends plain commands; an error reply is thrown.
    func send(_ commands: [RedisCommand]) async throws(QueueError) -> [RedisValue] {
        guard !commands.isEmpty else { return [] }
        do throws(RedisError) {
            let replies = try await client.pipeline(commands)
            for reply in replies { _ = try reply.get() }
            return replies
        } catch {
            throw .redis(error)
        }
    }
}
