import Redis

/// One reading of a queue's keys; only suspected problems are stored.
///
/// Keys that belong together are read in one transaction, with so few keys that it does not delay other clients.
struct QueueReading {
    let queue: JobQueue
    var suspects = SuspectJobs()
    /// The number of keys that were found.
    private(set) var keyCount = 0
    /// Values of `limit_key` that have parked jobs and no running one; one of their jobs must then be ready.
    var stalled: Set<String> = []

    /// The number of keys per page.
    static let page = 1000

    init(_ queue: JobQueue) { self.queue = queue }

    /// Reads every key of the queue.
    mutating func readAll() async throws(QueueError) {
        let prefix = queue.keys.prefix
        var cursor = "0"
        repeat {
            // `{` and `}` are not special characters in a pattern, and a queue's name has no special ones.
            let scan: RedisCommand = [
                "SCAN", .text(cursor), "MATCH", .text(prefix + "*"), "COUNT", .integer(Int64(Self.page)),
            ]
            guard let parts = try await queue.send([scan])[0].array, parts.count == 2, let next = parts[0].string else {
                throw .unexpectedAnswer(script: "SCAN", "not a cursor and keys")
            }
            let names = (parts[1].array ?? []).compactMap(\.string).map { String($0.dropFirst(prefix.count)) }
            keyCount += names.count
            try await read(names)
            cursor = next
        } while cursor != "0"
        try await finish()
    }

    /// Reads keys, named without the prefix, and the keys that must match them.
    mutating func read(_ names: [String]) async throws(QueueError) {
        var restsByKind: [String: [String]] = [:]
        var walked: [String] = []
        for name in names {
            switch name {
            case "delayed", "lease", "done", "failed", "cancelled", "parked", "expiring", "live": walked.append(name)
            case "ready": try await readReady()
            case "meta": try await readBells()
            case "schedules": try await readDueSchedules()
            case "called": try await readCalled()
            case "callbacks": try await readReceivers()
            case "in", "events", "workers", "limits", "rates", "paced", "aliases": break
            default:
                let kind = name.prefix { $0 != ":" }
                restsByKind[String(kind), default: []].append(String(name.dropFirst(kind.count + 1)))
            }
        }
        if !walked.isEmpty { try await readIndexes(walked) }
        for (kind, rests) in restsByKind { try await read(kind, rests) }
    }

    /// Performs the checks that need all keys to have been read.
    mutating func finish() async throws(QueueError) {
        if !stalled.isEmpty { try await readStalled() }
    }

    /// Reads keys of one kind, which is the part of their names before the first colon.
    private mutating func read(_ kind: String, _ rests: [String]) async throws(QueueError) {
        switch kind {
        case "job": try await readJobs(rests)
        case "spec", "result", "log", "commit": try await readBelongings(kind, rests)
        case "dedup": try await readHolders(rests)
        case "group": try await readGroups(rests)
        case "limit": try await readPlaces(rests)
        case "parked": try await readParked(rests)
        case "schedule": try await readSchedules(rests)
        case "callback": try await readCallbacks(rests)
        case "callbacks": try await readWaiting(rests)
        case "calling": try await readCalling(rests)
        case "replay", "reply", "alias", "worker", "rate", "stats": try await readLives(kind, rests)
        default: try await readUnknown(rests.map { $0.isEmpty ? kind : "\(kind):\($0)" })
        }
    }
}

extension QueueReading {
    /// The key of a name without the prefix.
    func key(_ name: String) -> RedisArgument { .text(queue.keys.prefix + name) }

    /// The replies to the commands in one transaction.
    func atomically(_ commands: [RedisCommand]) async throws(QueueError) -> [RedisValue] {
        try await queue.send([["MULTI"]] + commands + [["EXEC"]]).last?.array ?? []
    }

    /// The replies to several transactions, sent in one pipeline.
    func atomically(each commands: [[RedisCommand]]) async throws(QueueError) -> [[RedisValue]] {
        let replies = try await queue.send(commands.flatMap { [["MULTI"]] + $0 + [["EXEC"]] })
        var answers: [[RedisValue]] = []
        var end = -1
        for some in commands {
            end += some.count + 2
            answers.append(replies[end].array ?? [])
        }
        return answers
    }

    static func texts(_ value: RedisValue) -> [String: String] {
        (value.dictionary ?? [:]).compactMapValues(\.string)
    }
}
