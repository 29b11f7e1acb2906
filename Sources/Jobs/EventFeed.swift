package import Redis

/// Reads a queue's events in order, across lost connections, and reports gaps.
///
/// A feed that was not opened starts at the end of the stream with its first call, which reports a gap: events before it may
/// have been missed. A call that throws has read nothing: the next one continues from the same position.
package struct EventFeed: Sendable {
    private let client: BlockingRedisClient
    private let keys: QueueKeys
    private var last: (entry: String, number: Int64)?

    /// The client is occupied while the feed waits for events, so it must not be shared.
    package init(client: BlockingRedisClient, name: QueueName = .default) {
        self.client = client
        keys = QueueKeys(name)
    }

    /// The events of one read.
    package struct Batch: Sendable {
        /// The events, oldest first.
        package var events: [QueueEvent] = []
        /// Whether events before these were lost, or the queue was reset: read the list again.
        package var hasGap = false
    }

    /// Sets the position from which events are read; data of the queue that is read afterwards is at least as new.
    package mutating func open() async throws(QueueError) {
        let number = try await counter()
        let newest = try await ask(["XREVRANGE", .text(keys.events), "+", "-", "COUNT", "1"], for: .zero)
        let event = newest.array?.first.flatMap(Self.event)
        last = event.map { ($0.entry, $0.number) } ?? ("0-0", number)
    }

    /// The next events, up to 500; empty if there was none within a second.
    package mutating func next() async throws(QueueError) -> Batch {
        guard let last else {
            try await open()
            return Batch(hasGap: true)
        }
        let reply = try await ask(
            ["XREAD", "COUNT", "500", "BLOCK", "1000", "STREAMS", .text(keys.events), .text(last.entry)],
            for: .seconds(1))
        let events = (reply.array?.first?.array?.last?.array ?? []).compactMap(Self.event)
        guard let newest = events.last else {
            // A server that restarted without its data, or with older data, has a lower count.
            guard try await counter() < last.number else { return Batch() }
            try await open()
            return Batch(hasGap: true)
        }
        self.last = (newest.entry, newest.number)
        let numbers = [last.number] + events.map(\.number)
        return Batch(events: events, hasGap: zip(numbers, numbers.dropFirst()).contains { $1 != $0 + 1 })
    }

    /// The number of the newest event.
    private func counter() async throws(QueueError) -> Int64 {
        try await ask(["HGET", .text(keys.meta), "event"], for: .zero).integer ?? 0
    }

    private func ask(_ command: RedisCommand, for hold: Duration) async throws(QueueError) -> RedisValue {
        do throws(RedisError) { return try await client.block(command, for: hold) } catch { throw .redis(error) }
    }

    static func event(_ entry: RedisValue) -> QueueEvent? {
        guard let parts = entry.array, parts.count == 2, let name = parts[0].string,
            var fields = parts[1].dictionary?.compactMapValues(\.string),
            let number = fields.removeValue(forKey: "n").flatMap({ Int64($0) })
        else { return nil }
        let (id, state) = (fields.removeValue(forKey: "id") ?? "", fields.removeValue(forKey: "state") ?? "")
        return QueueEvent(entry: name, number: number, id: id, state: state, details: fields)
    }
}
