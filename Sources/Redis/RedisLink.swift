import Lifecycle

/// A connection that is made when it is needed and made again when it has broken, to wherever the server is then.
///
/// It never sends a command twice that may have been carried out. A call makes at most one attempt to connect, and more
/// only where the nodes of a cluster send it on; after failed attempts in a row it first waits out the back-off, so that a
/// caller may simply call again.
struct RedisLink: ~Copyable {
    private let name: String
    private let interruption: Interruption
    private let url: RedisURL
    private let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))
    private var topology: RedisTopology
    private var connection: RedisConnection?
    private var failures = 0
    private var pause = Deadline(after: .zero)

    /// How long a moving slot is given before it is asked for again.
    private static let migrationPause: Duration = .milliseconds(20)

    init(url: RedisURL, name: String, key: String?, interruption: Interruption) {
        self.url = url
        self.name = name
        self.interruption = interruption
        topology = RedisTopology(url: url, key: key, interruption: interruption)
    }

    /// Sends the commands over the connection that `connect` made, and wherever nodes of a cluster send them on to.
    ///
    /// More bytes in the replies of one exchange than the limit end the connection with `.replyTooLarge`.
    mutating func send(
        _ commands: [RedisCommand], until deadline: Deadline, maxReplyBytes: Int = .max
    ) throws(RedisError) -> [RedisValue] {
        var values = try exchange(commands, until: deadline, maxReplyBytes)
        // A slot that is still being migrated at the deadline gives its own answer.
        while let redirection = values.lazy.compactMap(Redirection.init).first, deadline.remaining > deadline.term / 8 {
            let open = values.indices.filter { Redirection(values[$0]) != nil }
            let rest = open.map { commands[$0] }
            var replies: [RedisValue]?
            switch redirection {
            case .moved(let host, let port):
                topology.move(host: host, port: port)
                connection = nil
            // A script needs all of the queue's keys in one place.
            case .asked(let host, let port) where !rest.contains(where: \.isScript):
                replies = try ask(topology.address(host: host, port: port), rest, until: deadline)
            case .asked, .awaited: break
            }
            if replies == nil {
                // Nodes that have not all heard of a change yet send a client to and fro.
                try awaitMigration(until: deadline)
                try connect(until: deadline)
                replies = try exchange(rest, until: deadline, maxReplyBytes)
            }
            for (index, reply) in zip(open, replies ?? []) { values[index] = reply }
        }
        return values
    }

    /// Sees to it that there is a connection that seems alive, to where the server is now.
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
            // To be stopped is no failure of the server's.
            guard error != .closed else { throw error }
            failures += 1
            pause = Deadline(after: backoff.delay(afterFailure: failures))
            throw error
        }
    }

    mutating func close() { connection = nil }

    /// Waits until the replicas have what was last written; asks over the connection that wrote it, for another knows nothing of it.
    mutating func acknowledge(_ wait: ReplicaWait, until deadline: Deadline) throws(RedisError) {
        guard connection?.seemsAlive() == true else {
            connection = nil
            throw .connection("lost Redis at \(url) before its replicas acknowledged the write")
        }
        let time = max(1, wait.timeout.milliseconds)
        let reply = try exchange([["WAIT", .integer(Int64(wait.replicas)), .integer(time)]], until: deadline)[0].get()
        guard let count = reply.integer else { throw .unexpectedReply("no number of replicas to WAIT") }
        guard count >= wait.replicas else { throw .tooFewReplicas(acknowledged: Int(count), wait) }
    }

    /// One exchange; drops a connection that breaks, or that leads to a server that is not the right one any more.
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

    /// Asks a node for what it got of a slot that is still on its way.
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
    /// What a server says that was the master when the connection was made, and a node whose cluster has fallen apart.
    var namesAnotherMaster: Bool {
        if case .error(let error) = self { ["READONLY", "CLUSTERDOWN"].contains(error.code) } else { false }
    }
}
