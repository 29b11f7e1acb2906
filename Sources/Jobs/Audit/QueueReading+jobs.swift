import Redis

extension QueueReading {
    /// Jobs that are read in one transaction, which takes less than a millisecond.
    private static let atOnce = 64

    /// Reads jobs and every reference to them.
    mutating func readJobs(_ ids: [String]) async throws(QueueError) {
        for some in ids.chunks(of: Self.atOnce) {
            // Most jobs have only a hash and a spec, and no shared keys; everything is read only for the others.
            let rare = some.flatMap { id in AuditedJob.kinds.dropFirst(2).map { key("\($0):\(id)") } }
            var (jobs, isPlain) = try await jobs(
                some.map { JobQuestions(id: $0, kinds: AuditedJob.kinds.prefix(2)) }, unless: rare)
            let questions = jobs.map(JobQuestions.init)
            if !isPlain || questions.contains(where: \.isShared) { (jobs, _) = try await self.jobs(questions) }
            for job in jobs {
                for problem in job.problems { suspects.add("job:" + job.id, problem) }
            }
        }
    }

    private func job(_ id: String) -> RedisArgument { .text(queue.keys.job(id)) }

    /// The state of jobs at one moment, and whether none of the other keys exists.
    private func jobs(
        _ questions: [JobQuestions], unless others: [RedisArgument] = []
    ) async throws(QueueError) -> ([AuditedJob], isPlain: Bool) {
        let words = questions.map { RedisArgument.text($0.id) }
        var commands = AuditedJob.indexes.map { RedisCommand(["ZMSCORE", key($0)] + words) }
        commands.append(RedisCommand(["SMISMEMBER", key("live")] + words))
        let places = commands.indices
        for questions in questions { commands += questions.commands(key) }
        if !others.isEmpty { commands.append(RedisCommand(["EXISTS"] + others)) }
        var replies = try await atomically(commands)[...]
        guard replies.count == commands.count else { throw .unexpectedAnswer(script: "EXEC", "too few parts") }
        let indexed = replies[places]
        replies = replies[places.upperBound...]
        let jobs = questions.enumerated().map { index, questions in
            questions.job(indexed.map { $0.array?[index] ?? .null }, &replies)
        }
        return (jobs, isPlain: replies.last == .integer(0))
    }

    /// Checks the indexes in the opposite direction: whether each contains only existing jobs.
    mutating func readIndexes(_ names: [String]) async throws(QueueError) {
        var sorted = KeyWalk(queue, sorted: names.filter { $0 != "live" })
        while let members = try await sorted.next() { try await readIndexed(members) }
        var live = KeyWalk(queue, sets: names.filter { $0 == "live" })
        while let members = try await live.next() { try await readIndexed(members) }
    }

    private mutating func readIndexed(_ members: [KeyWalk.Member]) async throws(QueueError) {
        for member in try await lost(members, { job($0) }) {
            suspects.add("job:" + member.text, AuditedJob.isNone(member.text, in: member.name))
        }
    }

    /// Checks that `ready` contains only existing jobs, and that no two have the same score.
    mutating func readReady() async throws(QueueError) {
        var (from, last) = ("-inf", (id: "", score: ""))
        while true {
            let replies = try await queue.send([
                [
                    "ZRANGEBYSCORE", .text(queue.keys.ready), .text(from), "+inf", "WITHSCORES", "LIMIT", 0,
                    .integer(Int64(Self.page)),
                ],
                ["HGET", .text(queue.keys.meta), "seq"],
            ])
            let texts = (replies[0].array ?? []).compactMap(\.string)
            let sequence = replies[1].integer ?? 0
            var ids: [String] = []
            for index in stride(from: 0, to: texts.count - 1, by: 2) {
                let (id, score) = (texts[index], texts[index + 1])
                if score == last.score, id != last.id {
                    suspects.add("ready", "two jobs have the same position in ready: \(last.id) and \(id)")
                }
                if (Int64(score) ?? .max) & (1 << 44 - 1) > sequence {
                    suspects.add("ready", "ready has the sequence number \(score), and the last is \(sequence)")
                }
                ids.append(id)
                last = (id, score)
            }
            // It may have been claimed a moment ago.
            try await readJobs(try await missing(ids.map(job)).map { ids[$0] })
            guard texts.count == 2 * Self.page else { return }
            // Starts at the last score again, so that jobs with equal scores are not separated, unless they fill a
            // page.
            from = (texts[1] == last.score ? "(" : "") + last.score
        }
    }
}

/// The commands that read one job.
private struct JobQuestions {
    let id: String
    /// The prefixes of its id in the names of keys.
    let kinds: ArraySlice<String>
    private var dedup: String?
    private var group: String?
    private var limit: String?

    init(id: String, kinds: ArraySlice<String>) {
        self.id = id
        self.kinds = kinds
    }

    /// All commands for a job that has been read.
    init(_ job: AuditedJob) {
        self.init(id: job.id, kinds: AuditedJob.kinds[...])
        dedup = job.fields["dedup"]
        group = job.fields["group"]
        limit = job.fields["limit_key"]
    }

    /// Whether the job has entries in keys that it shares with others.
    var isShared: Bool { dedup != nil || group != nil || limit != nil }

    func commands(_ key: (String) -> RedisArgument) -> [RedisCommand] {
        var commands: [RedisCommand] = [["HGETALL", key("job:" + id)]]
        commands += kinds.map { ["PTTL", key("\($0):\(id)")] }
        if let dedup { commands.append(["GET", key("dedup:" + dedup)]) }
        if let group { commands.append(["ZSCORE", key("group:\(group):ids"), .text(id)]) }
        if let limit {
            commands += [
                ["SMISMEMBER", key("limit:" + limit), .text(id)], ["ZSCORE", key("parked:" + limit), .text(id)],
            ]
        }
        return commands
    }

    /// The job, from its entries in the indexes and `live`, and from the next replies, which are removed.
    func job(_ places: [RedisValue], _ replies: inout ArraySlice<RedisValue>) -> AuditedJob {
        let fields = QueueReading.texts(replies.removeFirst())
        var lives: [String: Int64] = [:]
        for kind in kinds { lives[kind] = replies.removeFirst().integer }
        let holder = dedup != nil ? replies.removeFirst().string : nil
        let memberScore = group != nil ? replies.removeFirst().string : nil
        let hasPermit = limit != nil && replies.removeFirst().array?.first == .integer(1)
        let parkedScore = limit != nil ? replies.removeFirst().string : nil
        let scores = zip(AuditedJob.indexes, places).compactMap { name, score in score.string.map { (name, $0) } }
        return AuditedJob(
            id: id, fields: fields, scores: Dictionary(uniqueKeysWithValues: scores),
            isLive: places.last == .integer(1), lives: lives, holder: holder, memberScore: memberScore,
            hasPermit: hasPermit, parkedScore: parkedScore)
    }
}
