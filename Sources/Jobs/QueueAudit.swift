import Redis

/// Reads every key of a queue and names what does not fit together; meant for a queue at rest.
package struct QueueAudit: Sendable {
    let queue: JobQueue

    package init(_ queue: JobQueue) { self.queue = queue }

    /// A sentence for each fault; none for a sound queue.
    package func problems() async throws(QueueError) -> [String] {
        let snapshot = try await QueueSnapshot(queue)
        return snapshot.jobProblems() + snapshot.indexProblems() + snapshot.keyProblems() + snapshot.bellProblems()
            + snapshot.groupProblems() + snapshot.limitProblems()
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
    /// Counts by group, and scores by the ids of its jobs.
    var groups: [String: [String: String]] = [:]
    var members: [String: [String: String]] = [:]
    /// Running jobs by `limit_key`, and scores by the ids of those that are parked.
    var running: [String: Set<String>] = [:]
    var parked: [String: [String: String]] = [:]
    /// How many may run, by `limit_key`.
    var numbers: [String: Int] = [:]
    /// Each `limit_key` that is called by time.
    var paced: Set<String> = []
    var meta: [String: String] = [:]
    /// Ids of the inbox's bells.
    var bells: [String] = []

    private static let indexOf: [JobState: String] = [
        .waiting: "ready", .delayed: "delayed", .running: "lease", .completed: "done", .failed: "failed",
        .cancelled: "cancelled",
    ]

    static let indexes = indexOf.values.sorted() + ["parked"]

    /// Where a job must be.
    static func index(of fields: [String: String]) -> String? {
        fields["parked"] != nil ? "parked" : fields["state"].flatMap(JobState.init).flatMap { indexOf[$0] }
    }

    init(_ queue: JobQueue) async throws(QueueError) {
        let prefix = queue.keys.prefix
        keys = try await Self.scan(queue)
        for index in Self.indexes + ["workers"] {
            let reply = try await queue.send([["ZRANGE", .text(prefix + index), "0", "-1", "WITHSCORES"]])[0]
            indexes[index] = (reply.dictionary ?? [:]).compactMapValues(\.string)
        }
        try await readShared(queue)
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
            // One that is gone by now was mortal.
            if time != -1 { mortal.insert(key) }
            if key.hasPrefix("job:") {
                let reply = try await queue.send([["HGETALL", .text(prefix + key)]])[0]
                jobs[String(key.dropFirst(4))] = (reply.dictionary ?? [:]).compactMapValues(\.string)
            } else if key.hasPrefix("dedup:") {
                dedup[String(key.dropFirst(6))] = try await queue.send([["GET", .text(prefix + key)]])[0].string
            }
        }
    }

    /// Reads what several jobs share.
    private mutating func readShared(_ queue: JobQueue) async throws(QueueError) {
        for key in keys {
            let kind = key.prefix { $0 != ":" }
            let name = String(key.dropFirst(kind.count + 1))
            let full = RedisArgument.text(queue.keys.prefix + key)
            switch kind {
            case "group" where name.hasSuffix(":ids"): members[String(name.dropLast(4))] = try await scores(queue, full)
            case "group":
                let reply = try await queue.send([["HGETALL", full]])[0]
                groups[name] = (reply.dictionary ?? [:]).compactMapValues(\.string)
            case "limit":
                let reply = try await queue.send([["SMEMBERS", full]])[0]
                running[name] = Set((reply.array ?? []).compactMap(\.string))
            case "limits":
                let reply = try await queue.send([["HGETALL", full]])[0]
                numbers = (reply.dictionary ?? [:]).compactMapValues { $0.string.flatMap { Int($0) } }
            case "paced": paced = Set(try await scores(queue, full).keys)
            case "parked" where key != kind: parked[name] = try await scores(queue, full)
            default: break
            }
        }
    }

    private func scores(_ queue: JobQueue, _ key: RedisArgument) async throws(QueueError) -> [String: String] {
        let reply = try await queue.send([["ZRANGE", key, "0", "-1", "WITHSCORES"]])[0]
        return (reply.dictionary ?? [:]).compactMapValues(\.string)
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
