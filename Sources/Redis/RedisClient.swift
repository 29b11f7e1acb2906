import Lifecycle

/// A client for commands to which Redis replies at once; connects at the first use.
///
/// It runs on a separate thread, so that callers wait without blocking theirs. A call ends within the timeout, counted
/// from its start. If the connection breaks during a command, the call throws `.connection` and is not repeated,
/// because Redis may have executed it, and only the caller can decide whether it may be sent again. A connection that
/// is found dead before anything was written is replaced transparently. Cancelling the task does not interrupt a call.
package actor RedisClient {
    private let executor = ThreadExecutor(label: "redis")
    private let interruption = Interruption()
    private let timeout: Duration
    private var link: RedisLink
    /// The scripts whose source this client has sent, so that the server should have them.
    private var sentScripts: Set<ObjectIdentifier> = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// `name` is the client's name, as shown by `CLIENT LIST`. In a cluster, the client connects to the node that has
    /// the key.
    package init(url: RedisURL, name: String, key: String? = nil, timeout: Duration = .seconds(3)) {
        self.timeout = timeout
        link = RedisLink(url: url, name: name, key: key, interruption: interruption)
    }

    /// Returns the reply; an error reply is thrown as `.server`.
    package nonisolated func send(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        try await exchange([command], until: Deadline(after: timeout))[0].get()
    }

    /// Sends all commands in one pipeline and returns a reply for each; error replies are returned as values.
    package nonisolated func pipeline(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        try await exchange(commands, until: Deadline(after: timeout))
    }

    /// Runs the script: by its source the first time, then by its digest, and by its source again if the server no
    /// longer has it.
    package nonisolated func run(
        _ script: RedisScript, keys: [String], arguments: [RedisArgument]
    ) async throws(RedisError) -> RedisValue {
        try await run(script, keys: keys, each: [arguments]) { _ in true }[0]
    }

    /// Runs the script with each of the arguments until a reply is not wanted. It does not switch threads between two
    /// runs, which takes longer than many scripts. If `wait` is given, it waits for the replicas after each wanted
    /// reply, and throws `.tooFewReplicas` if too few acknowledge it in time; the call may then be repeated only if
    /// that is idempotent.
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
            // The script did not run, so sending its source does not run it twice.
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
