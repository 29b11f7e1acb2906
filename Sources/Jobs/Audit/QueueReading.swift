import Redis

/// One reading of a queue's keys, of which nothing is kept but what seems wrong.
///
/// What belongs together is read in one transaction, of so few keys that nobody waits for it.
struct QueueReading {
    let queue: JobQueue
    var suspects = SuspectJobs()
    /// Keys that were found.
    private(set) var keyCount = 0
    /// Values of `limit_key` with parked jobs of which none runs; one must be ready then.
    var stalled: Set<String> = []

    /// How many keys are found at once.
    static let page = 1000

    init(_ queue: JobQueue) { self.queue = queue }

    /// Reads every key of the queue.
    mutating func readAll() async throws(QueueError) {
        let prefix = queue.keys.prefix
        var cursor = "0"
        repeat {
            // `{` and `}` are no special characters of a pattern, and a queue's name has none.
            let scan: RedisCommand = [
                "SCAN", .text(cursor), "MATCH", .text(prefix + "*"), "COUNT", .integer(Int64(Self.page)),
            ]
            guard let parts = try await queue.send([scan])[0].array, parts.count == 2, let next = parts[0].string else {
                throw .unexpectedAnswer(script: "SCAN", "no cursor and keys")
            }
            let names = (parts[1].array ?? []).compactMap(\.string).map { String($0.dropFirst(prefix.count)) }
            keyCount += names.count
            try await read(names)
            cursor = next
        } while cursor != "0"
        try await finish()
    }

    /// Reads keys, named without the prefix, and what must fit them.
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

    /// Reads what can be judged only after all keys were read.
    mutating func finish() async throws(QueueError) {
        if !stalled.isEmpty { try await readStalled() }
    }

    /// Reads keys of one kind, which is what comes before the first colon of their names.
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
        case "replay", "alias", "worker", "rate", "stats": try await readLives(kind, rests)
        default: try await readUnknown(rests.map { $0.isEmpty ? kind : "\(kind):\($0)" })
        }
    }
}

extension QueueReading {
    /// The key of a name without the prefix.
    func key(_ name: String) -> RedisArgument { .text(queue.keys.prefix + name) }

    /// What a transaction of these commands answers.
    func atomically(_ commands: [RedisCommand]) async throws(QueueError) -> [RedisValue] {
        try await queue.send([["MULTI"]] + commands + [["EXEC"]]).last?.array ?? []
    }

    /// What transactions of so many commands each answer, sent in one go.
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
