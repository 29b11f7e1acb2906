import Redis

extension JobQueue {
    /// A message for each setting of the server that may lose jobs; a worker logs them at its start.
    package func configurationWarnings() async throws(QueueError) -> [String] {
        let replies = try await send([["INFO", "server"], ["INFO", "memory"]])
        let info = replies.map { Self.infoFields($0.string ?? "") }
        let name = ServerInfo.name(info[0])
        var warnings: [String] = []
        if let version = info[0]["redis_version"], Self.isOlder(version, than: [6, 2]) {
            warnings.append("Redis \(version) is too old: respool needs 6.2 or later")
        }
        if let policy = info[1]["maxmemory_policy"], policy != "noeviction" {
            warnings.append(
                "maxmemory-policy is \(policy), so \(name) deletes jobs when its memory is full: set it to noeviction")
        }
        return warnings
    }

    static func infoFields(_ text: String) -> [String: String] {
        var info: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { info[String(parts[0])] = String(parts[1]) }
        }
        return info
    }

    private static func isOlder(_ version: String, than limit: [Int]) -> Bool {
        let parts = version.split(separator: ".").compactMap { Int($0) }
        return parts.count >= 2 && parts.lexicographicallyPrecedes(limit)
    }
}
