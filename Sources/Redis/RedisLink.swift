import Lifecycle

/// A connection that is opened when it is needed, and opened again after it has broken, to the server's current
/// location.
///
/// It never resends a command that may have been executed. A call makes at most one attempt to connect, and more only
/// if nodes of a cluster redirect it. After consecutive failures it first waits out the backoff, so that a caller can
/// simply repeat the call.
struct RedisLink: ~Copyable {
    private let name: String
    private let interruption: Interruption
    private let url: RedisURL
    private let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))
    private var topology: RedisTopology
    private var connection: RedisConnection?
    private var failures = 0
    private var pause = Deadline(after: .zero)

    /// The wait before a command is resent while its hash slot moves.
    private static let migrationPause: Duration = .milliseconds(20)

    init(url: RedisURL, name: String, key: String?, interruption: Interruption) {
        self.url = url
        self.name = name
        self.interruption = interruption
        topology = RedisTopology(url: url, key: key, interruption: interruption)
    }

    /// Sends the commands over the connection that `connect` opened, and follows redirections of a cluster's nodes.
    ///
    /// If the replies of one exchange exceed the limit, the connection is closed with `.replyTooLarge`.
    mutating func send(
        _ commands: [RedisCommand], until deadline: Deadline, maxReplyBytes: Int = .max
    ) throws(RedisError) -> [RedisValue] {
        var values = try exchange(commands, until: deadline, maxReplyBytes)
        // If the hash slot is still moving near the deadline, the redirection itself is the reply.
        while let redirection = values.lazy.compactMap(Redirection.init).first, deadline.remaining > deadline.term / 8 {
            let open = values.indices.filter { Redirection(values[$0]) != nil }
            let rest = open.map { commands[$0] }
            var replies: [RedisValue]?
            switch redirection {
            case .moved(let host, let port):
                topology.move(host: host, port: port)
                connection = nil
            // A script needs all of the queue's keys on one node.
            case .asked(let host, let port) where !rest.contains(where: \.isScript):
                replies = try ask(topology.address(host: host, port: port), rest, until: deadline)
            case .asked, .awaited: break
            }
            if replies == nil {
                // Nodes that do not all have the new map yet can redirect a client back and forth.
                try awaitMigration(until: deadline)
                try connect(until: deadline)
                replies = try exchange(rest, until: deadline, maxReplyBytes)
            }
            for (index, reply) in zip(open, replies ?? []) { values[index] = reply }
        }
        return values
    }

    /// Ensures that there is a connection without signs of failure, to the server's current location.
    mutating func connect(until deadline: Deadline) throws(RedisError) {
        guard !interruption.isClosed else { throw .closed }
        if connection?.seemsAlive() == true, !topology.hasMoved() { return }
        connection = nil
        try waitOutBackoff(until: deadline)
        do throws(RedisError) {
            let server = try topology.locate(until: deadline)
            var made = try RedisConnection.open(server, name: name, until: deadline, interruption: interruption)
            try topology.check(&made, until: deadline)
            connection = consume made
            failures = 0
        } catch {
            topology.invalidate()
            // An interruption is not a failure of the server.
            guard error != .closed else { throw error }
            failures += 1
            pause = Deadline(after: backoff.delay(afterFailure: failures))
            throw error
        }
    }

    mutating func close() { connection = nil }

    /// Waits until the replicas have the last write. Uses the connection that made the write, because `WAIT` refers to
    /// the writes of its connection.
    mutating func acknowledge(_ wait: ReplicaWait, until deadline: Deadline) throws(RedisError) {
        guard connection?.seemsAlive() == true else {
            connection = nil
            throw .connection("lost Redis at \(url) before its replicas acknowledged the write")
        }
        let time = max(1, wait.timeout.milliseconds)
        let reply = try exchange([["WAIT", .integer(Int64(wait.replicas)), .integer(time)]], until: deadline)[0].get()
        guard let count = reply.integer else { throw .unexpectedReply("not a number of replicas for WAIT") }
        guard count >= wait.replicas else { throw .tooFewReplicas(acknowledged: Int(count), wait) }
    }

    /// One exchange. Closes a connection that breaks, or whose server is no longer the right one.
    private mutating func exchange(
        _ commands: [RedisCommand], until deadline: Deadline, _ maxReplyBytes: Int = .max
    ) throws(RedisError) -> [RedisValue] {
        do throws(RedisError) {
            let values = try connection!.send(commands, until: deadline, maxReplyBytes: maxReplyBytes)
            if values.contains(where: \.namesAnotherMaster) { disconnect() }
            return values
        } catch {
            disconnect()
            throw error
        }
    }

    /// Sends commands to a node that already has the keys of a moving hash slot (`ASKING`).
    private func ask(
        _ address: RedisURL.Address, _ commands: [RedisCommand], until deadline: Deadline
    ) throws(RedisError) -> [RedisValue] {
        var node = try RedisConnection.open(
            url.server(at: address), name: name, until: deadline, interruption: interruption)
        let replies = try node.send(commands.flatMap { [["ASKING"], $0] }, until: deadline)
        return commands.indices.map { replies[2 * $0 + 1] }
    }

    private mutating func disconnect() {
        connection = nil
        topology.invalidate()
    }

    private func awaitMigration(until deadline: Deadline) throws(RedisError) {
        let rest = min(deadline.remaining, Self.migrationPause)
        guard interruption.pause(until: Deadline(after: rest)) != .interrupted else { throw .closed }
    }

    private func waitOutBackoff(until deadline: Deadline) throws(RedisError) {
        let isSooner = deadline.instant < pause.instant
        guard interruption.pause(until: isSooner ? deadline : pause) != .interrupted else { throw .closed }
        guard !isSooner else {
            throw .connection("cannot reach Redis at \(url): no connection within \(deadline.term.rounded) s")
        }
    }
}

private extension RedisValue {
    /// Whether the server is no longer the master, or its cluster is down.
    var namesAnotherMaster: Bool {
        if case .error(let error) = self { ["READONLY", "CLUSTERDOWN"].contains(error.code) } else { false }
    }
}
