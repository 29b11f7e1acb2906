import Redis

extension JobQueue {
    /// What a worker should say at its start about the server: a sentence for each thing that may lose jobs.
    package func advice() async throws(QueueError) -> [String] {
        let replies = try await send([["INFO", "server"], ["INFO", "memory"]])
        let facts = replies.map { Self.facts($0.string ?? "") }
        var advice: [String] = []
        if let version = facts[0]["redis_version"], Self.isOlder(version, than: [6, 2]) {
            advice.append("Redis \(version) is too old: respool needs 6.2 or later")
        }
        if let policy = facts[1]["maxmemory_policy"], policy != "noeviction" {
            advice.append(
                "maxmemory-policy is \(policy), so a full Redis deletes jobs: set it to noeviction, the only safe one")
        }
        return advice
    }

    static func facts(_ text: String) -> [String: String] {
        var facts: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { facts[String(parts[0])] = String(parts[1]) }
        }
        return facts
    }

    private static func isOlder(_ version: String, than limit: [Int]) -> Bool {
        let parts = version.split(separator: ".").compactMap { Int($0) }
        return parts.count >= 2 && parts.lexicographicallyPrecedes(limit)
    }
}
