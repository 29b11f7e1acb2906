import Lifecycle

/// A connection that is made when it is needed and made again when it has broken.
///
/// It never sends a command twice. A call makes at most one attempt to connect; after failed attempts in a row it first
/// waits out the back-off, so that a caller may simply call again.
struct RedisLink: ~Copyable {
    private let url: RedisURL
    private let name: String
    private let interruption: Interruption
    private let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))
    private var connection: RedisConnection?
    private var failures = 0
    private var pause = Deadline(after: .zero)

    init(url: RedisURL, name: String, interruption: Interruption) {
        self.url = url
        self.name = name
        self.interruption = interruption
    }

    /// Sends the commands over the connection that `connect` made; drops one that breaks, or that became read-only.
    mutating func send(_ commands: [RedisCommand], until deadline: Deadline) throws(RedisError) -> [RedisValue] {
        do throws(RedisError) {
            let values = try connection!.send(commands, until: deadline)
            if values.contains(where: \.isReadOnlyError) { connection = nil }
            return values
        } catch {
            connection = nil
            throw error
        }
    }

    /// Sees to it that there is a connection that seems alive.
    mutating func connect(until deadline: Deadline) throws(RedisError) {
        guard !interruption.isClosed else { throw .closed }
        if connection?.seemsAlive() == true { return }
        connection = nil
        try waitOutBackoff(until: deadline)
        do throws(RedisError) {
            connection = try .open(url, name: name, until: deadline, interruption: interruption)
            failures = 0
        } catch {
            // To be stopped is no failure of the server's.
            guard error != .closed else { throw error }
            failures += 1
            pause = Deadline(after: backoff.delay(afterFailure: failures))
            throw error
        }
    }

    mutating func close() { connection = nil }

    private func waitOutBackoff(until deadline: Deadline) throws(RedisError) {
        let isSooner = deadline.instant < pause.instant
        guard interruption.pause(until: isSooner ? deadline : pause) != .interrupted else { throw .closed }
        guard !isSooner else {
            throw .connection("cannot reach Redis at \(url): no connection within \(deadline.term.seconds) s")
        }
    }
}

private extension RedisValue {
    /// What a server says that was the master when the connection was made.
    var isReadOnlyError: Bool {
        if case .error(let error) = self { error.code == "READONLY" } else { false }
    }
}
