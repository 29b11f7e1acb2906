import Crypto
import Glibc
import Lifecycle

/// One connection to Redis. It blocks, and is used by one thread at a time.
///
/// After a call has thrown, replies and commands no longer match, and the connection must not be used again.
package struct RedisConnection: ~Copyable {
    private let wire: Wire
    private let replies: ReplyReader
    private var output = CommandWriter()
    private var readWantsWrite = false
    /// Bytes received since the last call of `send` began.
    private var received = 0
    private let place: String
    private let interruption: Interruption

    init(
        over wire: consuming Wire, place: String, interruption: Interruption
    ) throws(RedisError) {
        replies = try ReplyReader()
        self.wire = wire
        self.place = place
        self.interruption = interruption
    }

    /// Sends one command and returns its reply; an error reply is thrown.
    package mutating func send(_ command: RedisCommand, until deadline: Deadline) throws(RedisError) -> RedisValue {
        try send([command], until: deadline)[0].get()
    }

    /// Sends the commands in one pipeline and returns a reply for each; error replies are returned as values.
    ///
    /// Throws `.replyTooLarge` once the received bytes exceed the limit, which is checked after each read.
    package mutating func send(
        _ commands: [RedisCommand], until deadline: Deadline, maxReplyBytes: Int = .max
    ) throws(RedisError) -> [RedisValue] {
        received = 0
        for command in commands { try output.append(command) }
        var values: [RedisValue] = []
        values.reserveCapacity(commands.count)
        while true {
            while values.count < commands.count, let value = try replies.next() { values.append(value) }
            guard values.count < commands.count else { return values }
            guard received <= maxReplyBytes else { throw .replyTooLarge(limit: maxReplyBytes) }
            try advance(until: deadline)
        }
    }

    /// Whether the local socket shows no sign that the server is gone; no packet is sent.
    package func seemsAlive() -> Bool { wire.isQuiet }

    /// Writes as much as the socket accepts, then waits for input and reads it.
    private mutating func advance(until deadline: Deadline) throws(RedisError) {
        var events = CShort(POLLIN)
        var refusal: String?
        if !output.isEmpty {
            switch write() {
            case .bytes, .wantsWrite: if !output.isEmpty { events |= CShort(POLLOUT) }
            case .wantsRead: break
            case .ended: refusal = "the server closed the connection"
            // The server may have sent the reason before it closed the connection.
            case .failed(let reason): refusal = reason
            }
        }
        if readWantsWrite { events |= CShort(POLLOUT) }
        if refusal == nil, !wire.hasPendingBytes { try wait(for: events, until: deadline) }
        switch try read() {
        case .bytes: break
        case .wantsRead: if let refusal { throw broken(refusal) }
        case .wantsWrite: readWantsWrite = true
        case .ended: throw broken(refusal ?? "the server closed the connection")
        case .failed(let reason): throw broken(refusal ?? reason)
        }
    }

    private mutating func read() throws(RedisError) -> SocketResult {
        readWantsWrite = false
        let transfer = try replies.receive { wire.read(into: $0) }
        if case .bytes(let count) = transfer { received += count }
        return transfer
    }

    private mutating func write() -> SocketResult {
        output.send { wire.write($0) }
    }

    private func wait(for events: CShort, until deadline: Deadline) throws(RedisError) {
        switch interruption.wait(for: events, on: wire.socket.number, until: deadline) {
        case .ready: return
        case .timedOut: throw broken("no response within \(deadline.term.rounded) s")
        case .interrupted: throw .closed
        }
    }

    private func broken(_ reason: String) -> RedisError { .connection("lost Redis at \(place): \(reason)") }
}
