import Redis

/// Sizes of parts of a queue that its statistics lack.
package struct QueueSizes: Sendable, Hashable {
    /// Running jobs, and waiting ones that may run.
    package let live: Int
    /// Waiting jobs whose `limit_key` has no free permit.
    package let parked: Int
    /// The number of schedules.
    package let schedules: Int
    /// Unfinished callbacks, of at most 1,000 receivers.
    package let callbacks: Int
}

extension JobQueue {
    /// Reads the sizes; each is one number in Redis.
    package func sizes() async throws(QueueError) -> QueueSizes {
        let replies = try await send([
            ["SCARD", .text(keys.live)], ["ZCARD", .text(keys.parked)], ["ZCARD", .text(keys.schedules)],
            ["ZRANGE", .text(keys.callbacks), "0", "999"],
        ])
        let receivers = (replies[3].array ?? []).compactMap(\.string)
        let callbacks = receivers.isEmpty ? [] : try await send(receivers.map { ["ZCARD", .text(keys.callbacks($0))] })
        func number(_ reply: RedisValue) -> Int { Int(reply.integer ?? 0) }
        return QueueSizes(
            live: number(replies[0]), parked: number(replies[1]), schedules: number(replies[2]),
            callbacks: callbacks.reduce(0) { $0 + number($1) })
    }
}
