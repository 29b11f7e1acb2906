import Redis

extension QueueReading {
    /// Checks that only jobs of a `limit_key` hold its permits.
    mutating func readPlaces(_ limits: [String]) async throws(QueueError) {
        var walk = KeyWalk(queue, sets: limits.map { "limit:" + $0 })
        try await readLimited(&walk) { id, limit in "\(id) holds a permit of \(limit)" }
    }

    /// Checks that only jobs of a `limit_key` are parked under it, and that one of its jobs is running or will be
    /// unparked.
    mutating func readParked(_ limits: [String]) async throws(QueueError) {
        var walk = KeyWalk(queue, sorted: limits.map { "parked:" + $0 })
        try await readLimited(&walk) { id, limit in "\(id) is parked under \(limit)" }
        let facts = try await atomically(
            each: limits.map {
                [
                    ["EXISTS", key("parked:" + $0)], ["EXISTS", key("limit:" + $0)],
                    ["ZSCORE", .text(queue.keys.prefix + "paced"), .text($0)],
                    ["HMGET", .text(queue.keys.limits), .text($0), "*"],
                ]
            })
        for (limit, facts) in zip(limits, facts) where facts.count == 4 {
            let numbers = (facts[3].array ?? []).compactMap(\.integer)
            if facts[0] == .integer(1), facts[1] == .integer(0), facts[2].isNull, numbers.first ?? 1 > 0 {
                stalled.insert(limit)
            }
        }
    }

    private mutating func readLimited(
        _ walk: inout KeyWalk, _ sentence: (String, String) -> String
    ) async throws(QueueError) {
        while let members = try await walk.next() {
            let foreign = try await wrong(members) {
                ["HGET", key("job:" + $0.text), "limit_key"]
            } unless: { member, limit in
                member.name.hasSuffix(":" + (limit.string ?? ""))
            }
            for member in foreign {
                let limit = String(member.name.drop { $0 != ":" }.dropFirst())
                suspects.add(member.name, sentence(member.text, limit))
            }
        }
    }

    /// Searches the ready jobs for those of stalled values of `limit_key`.
    mutating func readStalled() async throws(QueueError) {
        var walk = KeyWalk(queue, sorted: ["ready"])
        while !stalled.isEmpty, let members = try await walk.next() {
            for limit in try await queue.send(members.map { ["HGET", key("job:" + $0.text), "limit_key"] }) {
                if let limit = limit.string { stalled.remove(limit) }
            }
        }
        for limit in stalled {
            suspects.add("parked:" + limit, "jobs are parked under \(limit), but none runs or is ready")
        }
    }
}
