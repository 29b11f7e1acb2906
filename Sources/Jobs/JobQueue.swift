package import Redis

/// One queue on one server. Every change of a job is one script, which Redis runs atomically.
package struct JobQueue: Sendable {
    /// The name of the queue.
    package let name: QueueName
    /// The settings that `claim` and `beat` write to the queue.
    package let settings: QueueSettings
    /// The keys of this queue in Redis.
    package let keys: QueueKeys
    /// The settings in the format that the scripts parse.
    let settingsLine: String
    let client: RedisClient
    let claims: RedisClient
    private let publications: RedisClient
    private let replicas: ReplicaWait?
    /// What is run in place of each script: tests put errors into them.
    package var rewriting: @Sendable (RedisScript) -> RedisScript = { $0 }

    /// If `claims` is given, claims use that separate connection, so that Redis can process the ends of jobs while it
    /// returns others.
    ///
    /// With `replicas`, `publish` and `enqueue` succeed only after that many replicas have acknowledged them.
    /// Publications then need a separate connection too, because a beat must not wait behind a `WAIT`.
    package init(
        client: RedisClient, claims: RedisClient? = nil, publications: RedisClient? = nil, replicas: ReplicaWait? = nil,
        name: QueueName = .default, settings: QueueSettings = .init()
    ) {
        self.client = client
        self.claims = claims ?? client
        self.publications = publications ?? client
        self.replicas = replicas
        self.name = name
        self.settings = settings
        settingsLine = settings.line
        keys = QueueKeys(name)
    }

    /// Runs a script on the queue.
    func run(
        _ script: RedisScript, _ arguments: [RedisArgument], over connection: RedisClient? = nil
    ) async throws(QueueError) -> ScriptAnswer {
        try await run(script, each: [arguments], over: connection) { _ in true }[0]
    }

    /// Runs a script on the queue, then waits for the replicas if any are configured and the answer is wanted.
    func runDurably(
        _ script: RedisScript, _ arguments: [RedisArgument], while isWanted: @Sendable (RedisValue) -> Bool
    ) async throws(QueueError) -> ScriptAnswer {
        try await run(script, each: [arguments], over: publications, waitingFor: replicas, while: isWanted)[0]
    }

    /// Runs a script with each of the arguments until an answer is not wanted; waits for the replicas each time.
    func runDurably(
        _ script: RedisScript, each arguments: [[RedisArgument]], while isWanted: @Sendable (RedisValue) -> Bool
    ) async throws(QueueError) -> [ScriptAnswer] {
        try await run(script, each: arguments, over: client, waitingFor: replicas, while: isWanted)
    }

    private func run(
        _ script: RedisScript, each arguments: [[RedisArgument]], over connection: RedisClient?,
        waitingFor wait: ReplicaWait? = nil, while isWanted: @Sendable (RedisValue) -> Bool
    ) async throws(QueueError) -> [ScriptAnswer] {
        do throws(RedisError) {
            return try await (connection ?? client)
                .run(rewriting(script), keys: [keys.meta], each: arguments, waitingFor: wait, while: isWanted)
                .map { ScriptAnswer(script: script.name, value: $0) }
        } catch {
            throw .redis(error)
        }
    }

    /// Converts the reply to `TIME` to milliseconds since 1970.
    static func milliseconds(_ time: RedisValue) -> Int64 {
        (time.array?.first?.integer ?? 0) * 1000 + (time.array?.last?.integer ?? 0) / 1000
    }

    /// Sends plain commands; throws if a reply is an error.
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
