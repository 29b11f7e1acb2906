import JobSchema
import Jobs
import MediaTypes
import Redis

extension QueueWalk {
    private static let job = ["source": "https://example.org/a.flac", "format": "mp3"]
    private static let workers = ["host:1:abc", "host:2:def"]

    private static let report = OutputReport(
        url: "file:///out/a.mp3", format: "mp3", codec: "mp3", bytes: 10, duration: 1, sampleRate: 44_100, channels: 2,
        bitRate: 128_000, sha256: "00", copied: false, gapless: .init(start: 0, end: 0),
        damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])

    private static let commit = CommitRecord(outputs: [
        .init(destination: "/out/a.mp3", staged: "/out/.a.1", report: report)
    ])

    mutating func fields() -> [String: String] {
        var fields = Self.job
        if chance(40) { fields["priority"] = ["high", "normal", "low"].randomElement(using: &random)! }
        if chance(15) { fields["delay"] = "86400" }
        if chance(25) { fields["dedup"] = "key\(Int.random(in: 0..<3, using: &random))" }
        if chance(30) { fields["attempts"] = "\(Int.random(in: 1...3, using: &random))" }
        if chance(5) { fields["expires"] = "2001-01-01T00:00:00Z" }
        if chance(10) { fields["deadline"] = "86400" }
        if chance(20) { fields["callback"] = Self.receivers.randomElement(using: &random)! }
        if chance(30) { fields["limit_key"] = limitKeys.randomElement(using: &random)! }
        if chance(30) {
            // Others from time to time, for sealed ones take no more jobs.
            let group = "g\(steps / 80).\(Int.random(in: 0..<2, using: &random))"
            fields["group"] = group
            groups.insert(group)
        }
        return fields
    }

    private var limitKeys: [String] { ["k0", "k1", "k2"] }

    /// Some ids, no two the same.
    mutating func someIDs() -> [String] {
        Array(Set((0..<Int.random(in: 1...3, using: &random)).map { _ in ids.randomElement(using: &random)! })).sorted()
    }

    /// A pair that some client has: one of the latest, or any.
    private mutating func pair() -> (id: String, token: String)? {
        chance(70) ? held.suffix(4).randomElement(using: &random) : held.randomElement(using: &random)
    }

    mutating func push() async throws {
        var fields = fields()
        if chance(8) { fields[QueueModel.longName] = "" }
        var command: RedisCommand = ["XADD", .text(queue.keys.inbox), "*"]
        for (name, value) in fields {
            command.append(name)
            command.append(value)
        }
        guard let id = try await client.send(command).string else { return try check("no id", "an id", "a push") }
        tell("push \(id) \(fields)")
        model.inbox.append((id, fields))
        ids.append(id)
    }

    mutating func enqueue() async throws {
        if chance(30), let former = enqueued.randomElement(using: &random) {
            tell("enqueue again \(former.nonce)")
            let answer = try await queue.enqueue(former.specs, nonce: former.nonce)
            return try check(answer, former.answer, "a repeated enqueue")
        }
        let specs = (0..<Int.random(in: 1...3, using: &random)).map { _ in fields() }
        let nonce = chooseNonce()
        if let index = model.firstSealed(specs) { return try await enqueueSealed(specs, index) }
        let answer = try await queue.enqueue(specs, nonce: nonce)
        tell("enqueue \(nonce) \(specs) \(answer.map(\.id))")
        for (fields, enqueued) in zip(specs, answer) {
            let first = model.holder(fields["dedup"])
            try check(enqueued.isDuplicate ? enqueued.id : nil, first, "the job that a duplicate stands for")
            guard first == nil else { continue }
            try check(model.jobs[enqueued.id] == nil, true, "whether the id is new")
            model.place(enqueued.id, fields)
            ids.append(enqueued.id)
        }
        enqueued.append((nonce, specs, answer))
    }

    private mutating func enqueueSealed(_ specs: [[String: String]], _ index: Int) async throws {
        tell("enqueue \(specs), which is refused")
        var refused: Int?
        do throws(QueueError) {
            _ = try await queue.enqueue(specs)
        } catch {
            if case .invalidJob(let found, _) = error { refused = found }
        }
        try check(refused, index, "which job of a sealed group is refused")
    }

    mutating func seal() async throws {
        guard let group = groups.randomElement(using: &random) else { return }
        let callback = chance(60) ? Self.receivers.randomElement(using: &random)! : nil
        tell("seal \(group) \(callback ?? "")")
        if chance(50) { return try await pushSeal(group, callback) }
        model.admitAll()
        try check(
            try await queue.seal(group, callback: callback), model.seal(group, callback: callback),
            "the seal of \(group)")
    }

    /// Seals a group as anybody does, by way of the inbox.
    private mutating func pushSeal(_ group: String, _ callback: String?) async throws {
        var command: RedisCommand = ["XADD", .text(queue.keys.inbox), "*", "_seal", .text(group)]
        if let callback { command.append(contentsOf: ["callback", .text(callback)]) }
        guard let id = try await client.send(command).string else { return try check("no id", "an id", "a seal") }
        model.inbox.append((id, ["_seal": group].merging(callback.map { ["callback": $0] } ?? [:]) { $1 }))
        ids.append(id)
    }

    /// One of the keys, or that of all that have no number of their own.
    private mutating func limitKeyOrDefault() -> String { (limitKeys + ["*"]).randomElement(using: &random)! }

    mutating func limit() async throws {
        let (key, number) = (limitKeyOrDefault(), Int.random(in: -1...3, using: &random))
        tell("limit \(key) \(number)")
        model.limits[key] = number < 0 ? nil : number
        try await queue.setLimit(model.limits[key], key: key == "*" ? nil : key)
    }

    mutating func rate() async throws {
        let (key, rate) = (limitKeyOrDefault(), chance(60) ? nil : Int.random(in: 1...2, using: &random))
        tell("rate \(key) \(rate ?? 0)")
        try await queue.setRate(rate, key: key == "*" ? nil : key)
        model.rates[key] = rate
        // A default takes hold of keys with parked jobs at once, and of others with their next job; here of all alike.
        if key == "*" { try await letMinutesPass() } else { model.begun.remove(key) }
    }

    /// Lets the next job of every key begin.
    mutating func letMinutesPass() async throws {
        tell("minutes pass")
        let prefix = queue.keys.prefix
        var commands = limitKeys.map { key -> RedisCommand in ["DEL", .text(prefix + "rate:" + key)] }
        commands += limitKeys.map { ["ZADD", .text(prefix + "paced"), "XX", "1", .text($0)] }
        _ = try await client.pipeline(commands)
        model.begun = []
    }

    mutating func claim() async throws {
        let worker = Self.workers.randomElement(using: &random)!
        let isRepeated = chance(20)
        let former = isRepeated ? claims.filter { $0.worker == worker }.suffix(3).randomElement(using: &random) : nil
        let request = former?.request ?? ClaimRequest(counter: steps, nonce: chooseNonce())
        let count = Int.random(in: 1...3, using: &random)
        try await letSweep()
        let jobs = try await queue.claim(request, count: count, worker: worker).jobs
        tell("claim \(worker) \(request) \(count): \(jobs.map { "\($0.id) \($0.token)" })")
        try check(jobs.map(\.id), model.claim(request, worker, count), "a claim")
        for job in jobs {
            let expected = model.jobs[job.id]!
            try check(job.token, expected.token, "the token of \(job.id)")
            try check([job.attempt, job.crashes], [expected.attempt, expected.crashes], "the tries of \(job.id)")
            try check(job.commit != nil, expected.hasCommit, "the commit record of \(job.id)")
            // The client never learns of one in ten: its reply is cut.
            if !chance(10) { held.append((job.id, job.token)) }
        }
        claims.append((worker, request))
    }

    mutating func recover() async throws {
        guard let (id, token) = pair() else { return }
        let answer = try await queue.recover(id: id, token: token)
        tell("recover \(id) \(token): \(answer)")
        try check(answer, model.recover(id, token), "a recovery")
    }

    mutating func beat() async throws {
        var pairs: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) { if let pair = pair() { pairs[pair.id] = pair.token } }
        let some = pairs.sorted { $0.key < $1.key }.map { (id: $0.key, token: $0.value) }
        tell("beat \(some)")
        let answer = try await queue.beat(
            worker: WorkerRecord(name: Self.workers[0], host: "host", slots: 1, version: "1"),
            jobs: some.map {
                Heartbeat(id: $0.id, token: $0.token, progress: Progress(phase: .converting, fraction: 0.5))
            })
        // A job that publishes cannot have the wish.
        try check(answer.replies, model.beat(some), "a beat")
        try check(answer.isScheduleDue, !model.dueSchedules.isEmpty, "whether a schedule is due")
    }

    mutating func publish() async throws {
        guard let (id, token) = pair() else { return }
        tell("publish \(id) \(token)")
        let answer = try await queue.publish(id: id, token: token, record: Self.commit)
        try check(answer, model.publish(id, token), "a publication")
    }

    mutating func finish() async throws {
        guard let (id, token) = pair() else { return }
        let outcomes: [Jobs.Outcome] = [
            .completed([Self.report]), .completed([]), .failed(Failure(.timeout, "slow")),
            .failed(Failure(.noAudio, "silent")), .crashed(Failure(.crashed, "dead")), .cancelled, .released,
        ]
        let outcome = outcomes.randomElement(using: &random)!
        let log = chance(30) ? ["a line"] : []
        let answer = try await queue.finish(id: id, token: token, outcome: outcome, log: log)
        tell("finish \(id) \(token) \(outcome): \(answer)")
        let isRepeated = model.jobs[id]?.ended?.token == token
        let expected = model.finish(id, token, outcome)
        guard !isRepeated, case .acknowledged(let state, let due) = answer else {
            return try check(answer, expected, "a finish")
        }
        try check(.acknowledged(state, retryAt: nil), expected, "a finish")
        try check(due != nil, state == .delayed, "whether a finish says when the job is due")
        model.jobs[id]!.ended = (token, answer)
    }

    mutating func cancel() async throws {
        let some = someIDs()
        tell("cancel \(some)")
        let answers = try await queue.cancel(some)
        for (id, answer) in zip(some, answers) { try check(answer, model.cancel(id), "the cancel of \(id)") }
    }

    mutating func retry() async throws {
        let some = someIDs()
        var changes: [String: String] = [:]
        if chance(20) { changes["priority"] = ["high", "low"].randomElement(using: &random)! }
        if chance(20) { changes["limit_key"] = (limitKeys + [""]).randomElement(using: &random)! }
        tell("retry \(some) \(changes)")
        // Two names of one job are two calls for it, of which the first is looked at twice.
        guard Set(some.map { model.aliases[$0] ?? $0 }).count == some.count else { return }
        let answers = try await queue.retry(some, changes: changes)
        for (id, answer) in zip(some, answers) {
            if let expected = model.retry(id, changes) {
                try check(answer, expected, "the retry of \(id)")
            } else if case .invalid = answer {
                continue
            } else {
                try check("\(answer)", "invalid", "the retry of \(id)")
            }
        }
    }

    mutating func pause() async throws {
        let word = model.isPaused ? "resume" : "pause"
        tell(word)
        if model.isPaused { try await queue.resume() } else { try await queue.pause() }
        model.isPaused.toggle()
    }

    mutating func endLeases() async throws {
        for id in model.jobs.keys.sorted() where model.jobs[id]!.state == .running && chance(50) {
            tell("the lease of \(id) ends")
            _ = try await client.send(["ZADD", .text(queue.keys.lease), "1", .text(id)])
            model.jobs[id]!.leaseEnded = true
        }
    }

    mutating func makeDue() async throws {
        for id in model.jobs.keys.sorted() where model.jobs[id]!.state == .delayed && chance(60) {
            tell("\(id) is due")
            _ = try await client.send(["ZADD", .text(queue.keys.delayed), "1", .text(id)])
            _ = try await client.send(["HSET", .text(queue.keys.job(id)), "due", "1"])
            model.jobs[id]!.isDue = true
        }
    }

    mutating func passDeadlines() async throws {
        for id in model.jobs.keys.sorted() where model.jobs[id]!.isLate == false && chance(40) {
            tell("the deadline of \(id) is over")
            let keys = queue.keys
            _ = try await client.send(["HSET", .text(keys.job(id)), "deadline", "1"])
            _ = try await client.send(["ZADD", .text(keys.prefix + "expiring"), "XX", "1", .text(id)])
            model.jobs[id]!.isLate = true
        }
    }

    mutating func purge() async throws {
        let state = JobState.allCases.randomElement(using: &random)!
        tell("purge \(state)")
        try check(try await queue.purge(state), model.purge(state), "a purge of \(state)")
    }
}
