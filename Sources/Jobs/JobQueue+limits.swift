import Redis

extension JobQueue {
    /// Sets how many jobs of a `limit_key` run at once; `nil` removes the limit. Without a key, the limit applies to
    /// all keys that have no separate one.
    package func setLimit(_ number: Int?, key: String?) async throws(QueueError) {
        try await set(number, key, "limits")
    }

    /// Sets how many jobs of a `limit_key` may start per minute, at equal intervals; otherwise as `setLimit`.
    package func setRate(_ number: Int?, key: String?) async throws(QueueError) {
        try await set(number, key, "rates")
    }

    private func set(_ number: Int?, _ key: String?, _ hash: RedisArgument) async throws(QueueError) {
        var start = ""
        repeat {
            let arguments = [.text(key ?? "*"), .text(number.map(String.init) ?? ""), hash, .text(start)]
            start = try await run(QueueScript.limit, arguments).text()
        } while !start.isEmpty
    }

    /// The keys that have a limit or a rate, and the requested ones.
    package func limits(_ others: [String] = []) async throws(QueueError) -> KeyLimits {
        let replies = try await send([["HGETALL", .text(keys.limits)], ["HGETALL", .text(keys.rates)]])
        let numbers = replies.map { ($0.dictionary ?? [:]).compactMapValues { $0.string.flatMap { Int($0) } } }
        let names = Set(numbers[0].keys).union(numbers[1].keys).union(others).subtracting(["*"]).sorted()
        let counts = try await send(
            names.flatMap { name -> [RedisCommand] in
                [["SCARD", .text(keys.limit(name))], ["ZCARD", .text(keys.parked(name))]]
            })
        return KeyLimits(
            fallback: numbers[0]["*"], fallbackRate: numbers[1]["*"],
            keys: names.indices.map { index in
                KeyLimits.Key(
                    name: names[index], number: numbers[0][names[index]], rate: numbers[1][names[index]],
                    running: Int(counts[2 * index].integer ?? 0), parked: Int(counts[2 * index + 1].integer ?? 0))
            })
    }
}

/// The limits of each `limit_key`, and its running and parked jobs.
package struct KeyLimits: Sendable, Hashable {
    /// The greatest limit and the greatest rate.
    package static let most = 60_000

    /// The limit of keys that have no separate one.
    package let fallback: Int?
    /// Jobs that may start per minute, for keys that have no separate rate.
    package let fallbackRate: Int?
    /// The keys that have a limit or a rate, and the requested ones.
    package let keys: [Key]

    /// The limits of one `limit_key`, and its jobs.
    package struct Key: Sendable, Hashable {
        /// The job field `limit_key`.
        package let name: String
        /// Jobs that may run at once; `nil` if the key has no separate limit.
        package let number: Int?
        /// Jobs that may start per minute.
        package let rate: Int?
        /// The number of running jobs.
        package let running: Int
        /// Waiting jobs that got no permit.
        package let parked: Int

        package init(name: String, number: Int?, rate: Int? = nil, running: Int, parked: Int) {
            self.name = name
            self.number = number
            self.rate = rate
            self.running = running
            self.parked = parked
        }
    }
}
