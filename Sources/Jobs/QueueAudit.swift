import Redis

/// Reads every key of a queue and names what does not fit together.
package struct QueueAudit: Sendable {
    let queue: JobQueue

    package init(_ queue: JobQueue) { self.queue = queue }

    /// A sentence for each fault of a queue at rest; none for a sound one.
    package func problems() async throws(QueueError) -> [String] {
        try await QueueSnapshot(queue).problems
    }

    /// The same for a queue at work, and what is overdue: what each of three readings names, for a job may move while it
    /// is read.
    package func lastingProblems(pause: Duration = .milliseconds(300)) async throws(QueueError) -> Findings {
        var snapshot = try await QueueSnapshot(queue)
        var sentences = snapshot.problems + snapshot.overdueProblems()
        for _ in 2...3 where !sentences.isEmpty {
            try? await Task.sleep(for: pause)
            snapshot = try await QueueSnapshot(queue)
            let found = Set(snapshot.problems + snapshot.overdueProblems())
            sentences = sentences.filter(found.contains)
        }
        return Findings(keys: snapshot.keys.count, sentences: sentences.sorted())
    }

    /// What three readings agree on.
    package struct Findings: Sendable {
        package let keys: Int
        package let sentences: [String]
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
    /// Groups whose counts were the same before and after their jobs were read.
    var settled: Set<String> = []
    /// Running jobs by `limit_key`, and scores by the ids of those that are parked.
    var running: [String: Set<String>] = [:]
    var parked: [String: [String: String]] = [:]
    /// How many may run, by `limit_key`.
    var numbers: [String: Int] = [:]
    /// When each `limit_key` is called that is called by time, in ms.
    var paced: [String: String] = [:]
    /// Schedules by name, and when each is due next.
    var schedules: [String: [String: String]] = [:]
    var dueSchedules: [String: String] = [:]
    var meta: [String: String] = [:]
    var callbacks = CallbackSnapshot()
    /// Ids of the inbox's bells.
    var bells: [String] = []
    /// Whether there was something to claim at the moment when `meta` was read.
    var hasWork = false
    /// The server's clock at the end, in ms.
    var now: Int64 = 0

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
        let (prefix, names) = (queue.keys.prefix, queue.keys)
        // `{` and `}` are no special characters of a pattern, and a queue's name has none.
        let found = try await Self.walk(queue, ["SCAN"], ["MATCH", .text(prefix + "*")])
        keys = Set(found.map { String(($0.string ?? "").dropFirst(prefix.count)) })
        for index in Self.indexes + ["workers", "expiring"] {
            let members = try await Self.walk(queue, ["ZSCAN", .text(prefix + index)])
            indexes[index] = Self.texts(.array(members))
        }
        live = Set(try await Self.walk(queue, ["SSCAN", .text(names.live)]).compactMap(\.string))
        try await readBells(queue)
        let counts = keys.filter { $0.hasPrefix("group:") && !$0.hasSuffix(":ids") }
        let all = Array(counts) + keys.subtracting(counts)
        for start in stride(from: 0, to: all.count, by: 500) {
            try await readKeys(queue, all[start..<min(start + 500, all.count)])
        }
        try await readGroupsAgain(queue)
        now = JobQueue.milliseconds(try await queue.send([["TIME"]])[0])
    }

    private mutating func readBells(_ queue: JobQueue) async throws(QueueError) {
        let replies = try await queue.send([
            ["MULTI"], ["HGETALL", .text(queue.keys.meta)], ["ZCARD", .text(queue.keys.ready)], ["EXEC"],
        ])
        meta = replies[3].array?.first.map(Self.texts) ?? [:]
        hasWork = replies[3].array?.last?.integer ?? 0 > 0 && meta["paused"] == nil
        var from = "-"
        while true {
            let reply = try await queue.send([
                ["XRANGE", .text(queue.keys.inbox), .text(from), "+", "COUNT", "500"]
            ])[0]
            let entries = (reply.array ?? []).compactMap(\.array)
            for entry in entries where entry.last?.array?.first?.string == "_bell" {
                bells.append(entry.first?.string ?? "")
            }
            guard entries.count == 500 else { return }
            from = "(" + (entries.last?.first?.string ?? "")
        }
    }

    private mutating func readKeys(_ queue: JobQueue, _ names: ArraySlice<String>) async throws(QueueError) {
        let commands = names.flatMap { name -> [RedisCommand] in
            let key = RedisArgument.text(queue.keys.prefix + name)
            return [["PTTL", key], Self.reading(name, key)]
        }
        let replies = try await queue.send(commands)
        for (index, name) in names.enumerated() {
            let (time, value) = (replies[2 * index].integer ?? -1, replies[2 * index + 1])
            if time >= 0 { mortal.insert(name) }
            // Gone since it was found.
            if time == -2 { keys.remove(name) } else { try await take(queue, name, value) }
        }
    }

    /// What comes before the first colon of a key's name, and what comes after it.
    static func parts(_ name: String) -> (kind: String, rest: String) {
        let kind = name.prefix { $0 != ":" }
        return (String(kind), String(name.dropFirst(kind.count + 1)))
    }

    private static func reading(_ name: String, _ key: RedisArgument) -> RedisCommand {
        switch parts(name).kind {
        case "group" where name.hasSuffix(":ids"), "parked" where name != "parked", "paced", "schedules", "callbacks",
            "called":
            ["ZSCAN", key, "0", "COUNT", "1000"]
        case "job", "group", "limits", "schedule", "callback": ["HGETALL", key]
        case "limit", "calling": ["SMEMBERS", key]
        case "dedup": ["GET", key]
        default: ["TYPE", key]
        }
    }

    private mutating func take(_ queue: JobQueue, _ name: String, _ value: RedisValue) async throws(QueueError) {
        let (kind, rest) = Self.parts(name)
        switch kind {
        case "job": jobs[rest] = Self.texts(value)
        case "dedup": dedup[rest] = value.string
        case "group" where rest.hasSuffix(":ids"):
            members[String(rest.dropLast(4))] = try await scores(queue, name, value)
        case "group": groups[rest] = Self.texts(value)
        case "limit": running[rest] = Set((value.array ?? []).compactMap(\.string))
        case "limits": numbers = Self.texts(value).compactMapValues { Int($0) }
        case "paced": paced = try await scores(queue, name, value)
        case "schedules": dueSchedules = try await scores(queue, name, value)
        case "schedule": schedules[rest] = Self.texts(value)
        case "callback": callbacks.all[rest] = Self.texts(value)
        case "calling": callbacks.sent[rest] = Set((value.array ?? []).compactMap(\.string))
        case "callbacks" where name != kind: callbacks.waiting[rest] = try await scores(queue, name, value)
        case "callbacks": callbacks.receivers = try await scores(queue, name, value)
        case "called": callbacks.over = try await scores(queue, name, value)
        case "parked" where name != kind: parked[rest] = try await scores(queue, name, value)
        default: break
        }
    }

    /// Members and scores, of which `first` has the beginning.
    private func scores(
        _ queue: JobQueue, _ name: String, _ first: RedisValue
    ) async throws(QueueError) -> [String: String] {
        guard let parts = first.array, parts.count == 2, let cursor = parts[0].string else { return [:] }
        var found = parts[1].array ?? []
        if cursor != "0" {
            found += try await Self.walk(queue, ["ZSCAN", .text(queue.keys.prefix + name)], from: cursor)
        }
        return Self.texts(.array(found))
    }

    private static func texts(_ value: RedisValue) -> [String: String] {
        (value.dictionary ?? [:]).compactMapValues(\.string)
    }

    /// Learns which groups changed while their jobs were read.
    private mutating func readGroupsAgain(_ queue: JobQueue) async throws(QueueError) {
        let names = Array(groups.keys)
        for start in stride(from: 0, to: names.count, by: 500) {
            let some = names[start..<min(start + 500, names.count)]
            let replies = try await queue.send(some.map { ["HGETALL", .text(queue.keys.prefix + "group:" + $0)] })
            for (name, reply) in zip(some, replies) where groups[name] == Self.texts(reply) { settled.insert(name) }
        }
    }

    /// All that a cursor leads through.
    private static func walk(
        _ queue: JobQueue, _ command: [RedisArgument], _ rest: [RedisArgument] = [], from first: String = "0"
    ) async throws(QueueError) -> [RedisValue] {
        var found: [RedisValue] = []
        var cursor = first
        repeat {
            let step = RedisCommand(command + [.text(cursor)] + rest + ["COUNT", "1000"])
            guard let parts = try await queue.send([step])[0].array, parts.count == 2, let next = parts[0].string else {
                return found
            }
            cursor = next
            found += parts[1].array ?? []
        } while cursor != "0"
        return found
    }
}
