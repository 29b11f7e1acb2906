import Redis

/// Reads every key of a queue and names what does not fit together; meant for a queue at rest.
package struct QueueAudit: Sendable {
    let queue: JobQueue

    package init(_ queue: JobQueue) { self.queue = queue }

    /// A sentence for each fault; none for a sound queue.
    package func problems() async throws(QueueError) -> [String] {
        let snapshot = try await QueueSnapshot(queue)
        return snapshot.jobProblems() + snapshot.indexProblems() + snapshot.keyProblems() + snapshot.bellProblems()
    }
}

/// Every key of a queue, read one after the other.
struct QueueSnapshot {
    /// Key names without the prefix.
    var keys: Set<String> = []
    /// Keys that have a time to live.
    var mortal: Set<String> = []
    var jobs: [String: [String: String]] = [:]
    /// Members and scores by index.
    var indexes: [String: [String: String]] = [:]
    var live: Set<String> = []
    var dedup: [String: String] = [:]
    var meta: [String: String] = [:]
    /// Ids of the inbox's bells.
    var bells: [String] = []

    static let indexOf: [JobState: String] = [
        .waiting: "ready", .delayed: "delayed", .running: "lease", .completed: "done", .failed: "failed",
        .cancelled: "cancelled",
    ]

    init(_ queue: JobQueue) async throws(QueueError) {
        let prefix = queue.keys.prefix
        keys = try await Self.scan(queue)
        for index in Self.indexOf.values.sorted() + ["workers"] {
            let reply = try await queue.send([["ZRANGE", .text(prefix + index), "0", "-1", "WITHSCORES"]])[0]
            indexes[index] = (reply.dictionary ?? [:]).compactMapValues(\.string)
        }
        let replies = try await queue.send([
            ["SMEMBERS", .text(queue.keys.live)], ["HGETALL", .text(queue.keys.meta)],
            ["XRANGE", .text(queue.keys.inbox), "-", "+"],
        ])
        live = Set((replies[0].array ?? []).compactMap(\.string))
        meta = (replies[1].dictionary ?? [:]).compactMapValues(\.string)
        for entry in replies[2].array ?? [] where entry.array?.last?.array?.first?.string == "_bell" {
            bells.append(entry.array?.first?.string ?? "")
        }
        for key in keys {
            let time = try await queue.send([["PTTL", .text(prefix + key)]])[0].integer ?? -1
            if time >= 0 { mortal.insert(key) }
            if key.hasPrefix("job:") {
                let reply = try await queue.send([["HGETALL", .text(prefix + key)]])[0]
                jobs[String(key.dropFirst(4))] = (reply.dictionary ?? [:]).compactMapValues(\.string)
            } else if key.hasPrefix("dedup:") {
                dedup[String(key.dropFirst(6))] = try await queue.send([["GET", .text(prefix + key)]])[0].string
            }
        }
    }

    private static func scan(_ queue: JobQueue) async throws(QueueError) -> Set<String> {
        // `{` and `}` are no special characters of a pattern, and a queue's name has none.
        let pattern = queue.keys.prefix + "*"
        var keys: Set<String> = []
        var cursor = "0"
        repeat {
            let reply = try await queue.send([["SCAN", .text(cursor), "MATCH", .text(pattern), "COUNT", "1000"]])[0]
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string else { return keys }
            cursor = next
            for key in parts[1].array ?? [] {
                keys.insert(String((key.string ?? "").dropFirst(queue.keys.prefix.count)))
            }
        } while cursor != "0"
        return keys
    }
}
