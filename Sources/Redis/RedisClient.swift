import Lifecycle

/// A client for commands that Redis answers at once; connects when it is first used.
///
/// On a thread of its own, so callers wait without blocking theirs. A call ends within the time-out, counted from when it
/// was made. If the connection breaks under a command, the call throws `.connection` and is not repeated: Redis may have
/// carried it out, and only the caller knows whether it may be sent again. A connection that was found dead before
/// anything was written is replaced unseen. Cancelling the task does not cut a call short.
package actor RedisClient {
    private let executor = ThreadExecutor(label: "redis")
    private let interruption = Interruption()
    private let timeout: Duration
    private var link: RedisLink
    /// The scripts that this client has sent whole, so that the server should hold them.
    private var sentScripts: Set<ObjectIdentifier> = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A client by that name (`CLIENT LIST` shows it); in a cluster it speaks to the node that has the key.
    package init(url: RedisURL, name: String, key: String? = nil, timeout: Duration = .seconds(3)) {
        self.timeout = timeout
        link = RedisLink(url: url, name: name, key: key, interruption: interruption)
    }

    /// Answers the reply; an error reply is thrown as `.server`.
    package nonisolated func send(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        try await exchange([command], until: Deadline(after: timeout))[0].get()
    }

    /// Sends all commands in one go and answers a reply for each; error replies stay values.
    package nonisolated func pipeline(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        try await exchange(commands, until: Deadline(after: timeout))
    }

    /// Runs the script: by its source for the first time, then by its digest, and by its source if the server lost it.
    package nonisolated func run(
        _ script: RedisScript, keys: [String], arguments: [RedisArgument]
    ) async throws(RedisError) -> RedisValue {
        try await run(script, keys: keys, each: [arguments]) { _ in true }[0]
    }

    /// Runs it with each of the arguments, one after the other until a reply is not as wanted: nobody has to be woken between two
    /// of them, which takes longer than many a script. Each whose reply is as wanted counts once the replicas have it, if they are
    /// to be waited for: if not, `.tooFewReplicas` is thrown, and the call may be repeated only if that does nothing twice.
    package nonisolated func run(
        _ script: RedisScript, keys: [String], each arguments: [[RedisArgument]], waitingFor wait: ReplicaWait? = nil,
        while isWanted: @Sendable (RedisValue) -> Bool
    ) async throws(RedisError) -> [RedisValue] {
        try await perform(script, keys, arguments, Deadline(after: timeout), wait, while: isWanted)
    }

    /// Ends the call in progress and all later ones with `.closed`, and disconnects.
    package nonisolated func close() async {
        interruption.close()
        await disconnect()
    }

    private func exchange(_ commands: [RedisCommand], until deadline: Deadline) throws(RedisError) -> [RedisValue] {
        guard !commands.isEmpty else { return [] }
        try link.connect(until: deadline)
        return try link.send(commands, until: deadline)
    }

    private func perform(
        _ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument], until deadline: Deadline
    ) throws(RedisError) -> RedisValue {
        if sentScripts.contains(script.identity) {
            let reply = try exchange([script.evalsha(keys: keys, arguments: arguments)], until: deadline)[0]
            // Then nothing has run, and what follows is no second time.
            guard case .error(let error) = reply, error.code == "NOSCRIPT" else { return reply }
        }
        let reply = try exchange([script.eval(keys: keys, arguments: arguments)], until: deadline)[0]
        sentScripts.insert(script.identity)
        return reply
    }

    private func perform(
        _ script: RedisScript, _ keys: [String], _ arguments: [[RedisArgument]], _ first: Deadline,
        _ wait: ReplicaWait?, while isWanted: (RedisValue) -> Bool
    ) throws(RedisError) -> [RedisValue] {
        var (replies, deadline): ([RedisValue], Deadline) = ([], first)
        for arguments in arguments {
            replies.append(try perform(script, keys, arguments, until: deadline).get())
            guard isWanted(replies[replies.count - 1]) else { break }
            if let wait { try link.acknowledge(wait, until: Deadline(after: wait.timeout + timeout)) }
            deadline = Deadline(after: timeout)
        }
        return replies
    }

    private func disconnect() { link.close() }
}
