import JobSchema
import Jobs

/// What the queue should be: the same rules over plain values.
struct QueueModel {
    /// The name of a field with which an entry is not admitted.
    static let longName = String(repeating: "x", count: 65)

    struct Job: Equatable {
        var id: String
        var state = JobState.waiting
        var rank: Int
        var sequence: Int
        var attempt = 0
        var attempts: Int
        var crashes = 0
        var epoch = 0
        var token = ""
        var isPublishing = false
        var hasCommit = false
        var isWished = false
        var dedup: String?
        var group: String?
        var limitKey: String?
        var callback: String?
        var isExpired: Bool
        /// Whether its deadline is over, if it has one.
        var isLate: Bool?
        var isDue = false
        /// Whether it goes behind newer jobs once it is due.
        var isSentBack = false
        var leaseEnded = false
        var isValid: Bool
        var ended: (token: String, answer: FinishAnswer)?

        static func == (a: Job, b: Job) -> Bool { a.id == b.id && a.state == b.state }
    }

    static let maxCrashes = 3
    private static let ranks = ["high": 0, "normal": 1, "low": 2]

    var jobs: [String: Job] = [:]
    var inbox: [(id: String, fields: [String: String])] = []
    var aliases: [String: String] = [:]
    var dedup: [String: String] = [:]
    /// The last claim of each worker, and what it got.
    var claims: [String: (counter: Int, ids: [String])] = [:]
    var groups: [String: Group] = [:]
    /// How many run at once, by `limit_key`.
    var limits: [String: Int] = [:]
    var callbacks = Callbacks()
    var schedules: [String: Schedule] = [:]
    /// How many may begin in a minute, by `limit_key`; under `*`, as there, for all others.
    var rates: [String: Int] = [:]
    /// The keys of which a job has begun so short ago that none may begin yet.
    var begun: Set<String> = []
    var isPaused = false
    var sequence = 0

    /// A job by its id or by that of a duplicate.
    func job(_ id: String) -> Job? { jobs[aliases[id] ?? id] }

    func state(_ id: String) -> JobState? {
        hasQueued(id) ? .queued : job(id)?.state
    }

    /// Whether the inbox has that job; a seal is none.
    private func hasQueued(_ id: String) -> Bool { inbox.contains { $0.id == id && $0.fields["_seal"] == nil } }

    mutating func place(_ id: String, _ fields: [String: String]) {
        sequence += 1
        let rank = Self.ranks[fields["priority"] ?? "normal"]!
        var job = Job(
            id: id, rank: rank, sequence: sequence, attempts: Int(fields["attempts"] ?? "5")!, dedup: fields["dedup"],
            group: fields["group"], limitKey: fields["limit_key"], callback: fields["callback"],
            isExpired: fields["expires"] != nil, isLate: fields["deadline"] != nil ? false : nil,
            isValid: isValid(fields))
        if !job.isValid {
            job = Job(
                id: id, state: .failed, rank: 1, sequence: sequence, attempts: 5,
                group: isSealed(fields["group"]) ? nil : fields["group"], callback: fields["callback"],
                isExpired: false, isValid: false)
        } else if fields["delay"] != nil {
            job.state = .delayed
        }
        jobs[id] = job
        if !job.isValid { announce(id) }
        if let key = job.dedup { dedup[key] = id }
        if let group = job.group { groups[group, default: Group()].ids.insert(id) }
    }

    private func isValid(_ fields: [String: String]) -> Bool {
        fields[QueueModel.longName] == nil && !isSealed(fields["group"])
    }

    /// The job that holds the key.
    func holder(_ key: String?) -> String? { key.flatMap { dedup[$0] } }

    /// The job that one with these fields would stand for, if it came by way of the inbox.
    func duplicate(_ fields: [String: String]) -> String? { isValid(fields) ? holder(fields["dedup"]) : nil }

    mutating func admit(_ id: String, _ fields: [String: String]) {
        if let group = fields["_seal"] {
            _ = seal(group, callback: fields["callback"])
        } else if let first = duplicate(fields) {
            aliases[id] = first
        } else {
            place(id, fields)
        }
    }

    mutating func admitAll() {
        for entry in inbox { admit(entry.id, entry.fields) }
        inbox = []
    }

    mutating func runMaintenance() {
        admitAll()
        for id in jobs.keys where isOverdue(jobs[id]!) { end(id, .failed) }
        // All are due at the same time, so by their ids.
        for id in jobs.keys.sorted() where jobs[id]!.state == .delayed && jobs[id]!.isDue { promote(id) }
        // No more in one call; all have the same end, so by their ids.
        for id in jobs.values.filter({ $0.state == .running && $0.leaseEnded }).map(\.id).sorted().prefix(16) {
            crash(id) { $0.state = .waiting }
        }
    }

    mutating func promote(_ id: String) {
        jobs[id]!.state = .waiting
        guard jobs[id]!.isSentBack else { return }
        sequence += 1
        jobs[id]!.sequence = sequence
        jobs[id]!.isSentBack = false
    }

    /// Whether time gives up a job that does not run.
    private func isOverdue(_ job: Job) -> Bool {
        [.waiting, .delayed].contains(job.state) && !job.hasCommit
            && (job.isExpired && job.epoch == 0 || job.isLate == true)
    }

    mutating func end(_ id: String, _ state: JobState) {
        jobs[id]!.state = state
        jobs[id]!.isWished = false
        jobs[id]!.hasCommit = false
        announce(id)
        if let key = jobs[id]!.dedup, dedup[key] == id { dedup[key] = nil }
    }

    mutating func crash(_ id: String, back: (inout Job) -> Void) {
        jobs[id]!.crashes += 1
        jobs[id]!.attempt -= 1
        let mayEnd = !jobs[id]!.hasCommit || jobs[id]!.crashes >= 2 * Self.maxCrashes
        if jobs[id]!.isWished, mayEnd {
            end(id, .cancelled)
        } else if jobs[id]!.crashes >= Self.maxCrashes, mayEnd {
            end(id, .failed)
        } else {
            back(&jobs[id]!)
        }
    }

    /// The ids that a claim should give.
    mutating func claim(_ request: ClaimRequest, _ worker: String, _ count: Int) -> [String] {
        let nonce = request.nonce
        if let last = claims[worker], request.counter <= last.counter {
            guard request.counter == last.counter else { return [] }
            return last.ids.filter { jobs[$0]?.state == .running && jobs[$0]!.token.hasSuffix(":" + nonce) }
        }
        runMaintenance()
        var taken: [String] = []
        defer { claims[worker] = (request.counter, taken) }
        guard !isPaused else { return [] }
        let waiting = jobs.values.filter { $0.state == .waiting }
            .sorted { ($0.rank, $0.sequence) < ($1.rank, $1.sequence) }
        for job in waiting where taken.count < count && hasPermit(job.limitKey) {
            if isOverdue(job) {
                end(job.id, .failed)
                continue
            }
            take(job.id, nonce)
            taken.append(job.id)
        }
        return taken
    }

    private mutating func take(_ id: String, _ nonce: String) {
        jobs[id]!.state = .running
        jobs[id]!.epoch += 1
        jobs[id]!.attempt += 1
        jobs[id]!.token = "\(jobs[id]!.epoch):\(nonce)"
        jobs[id]!.isPublishing = false
        jobs[id]!.leaseEnded = false
        jobs[id]!.isDue = false
        if let key = jobs[id]!.limitKey, rates[key] ?? rates["*"] != nil { begun.insert(key) }
    }

    func owns(_ id: String, _ token: String) -> Bool { jobs[id]?.state == .running && jobs[id]!.token == token }

    mutating func beat(_ held: [(id: String, token: String)]) -> [String: BeatReply] {
        var replies: [String: BeatReply] = [:]
        for (id, token) in held {
            guard owns(id, token) else {
                replies[id] = .lost
                continue
            }
            jobs[id]!.leaseEnded = false
            let isLate = jobs[id]!.isLate == true
            replies[id] = jobs[id]!.hasCommit ? .ok : jobs[id]!.isWished ? .cancel : isLate ? .expired : .ok
        }
        runMaintenance()
        return replies
    }

    mutating func publish(_ id: String, _ token: String) -> PublishAnswer {
        guard owns(id, token) else { return .stale }
        if jobs[id]!.isWished { return .cancelled }
        if jobs[id]!.isLate == true, !jobs[id]!.isPublishing { return .expired }
        jobs[id]!.isPublishing = true
        jobs[id]!.hasCommit = true
        jobs[id]!.leaseEnded = false
        return .ok
    }

    mutating func recover(_ id: String, _ token: String) -> RecoveryAnswer {
        if let ended = jobs[id]?.ended, ended.token == token {
            switch ended.answer {
            case .acknowledged(.cancelled, _): return .cancelled
            case .acknowledged(.failed, _): return .crashed
            default: return .stale
            }
        }
        guard owns(id, token) else { return .stale }
        if jobs[id]!.isPublishing { return .ok }
        guard jobs[id]!.hasCommit, jobs[id]!.isWished || jobs[id]!.crashes >= Self.maxCrashes else {
            jobs[id]!.hasCommit = false
            return jobs[id]!.isLate == true ? .expired : .ok
        }
        let isWished = jobs[id]!.isWished
        if !isWished { jobs[id]!.attempt -= 1 }
        end(id, isWished ? .cancelled : .failed)
        jobs[id]!.ended = (token, .acknowledged(jobs[id]!.state, retryAt: nil))
        return isWished ? .cancelled : .crashed
    }

    /// The state after a finish; the time of a retry is Redis's own.
    mutating func finish(_ id: String, _ token: String, _ outcome: Jobs.Outcome) -> FinishAnswer {
        if let ended = jobs[id]?.ended, ended.token == token { return ended.answer }
        guard owns(id, token) else { return .stale }
        if jobs[id]!.isPublishing, outcome == .cancelled || outcome == .released { return .publishing }
        switch outcome {
        case .crashed: crash(id) { $0.state = .delayed }
        case _ where jobs[id]!.isWished && !jobs[id]!.hasCommit: end(id, .cancelled)
        case .completed: end(id, .completed)
        case .cancelled: end(id, .cancelled)
        case .released:
            jobs[id]!.attempt -= 1
            jobs[id]!.state = .waiting
        case .failed(let failure, _):
            if failure.retryable, jobs[id]!.attempt < jobs[id]!.attempts {
                jobs[id]!.state = .delayed
                jobs[id]!.isSentBack = true
            } else {
                end(id, jobs[id]!.isWished ? .cancelled : .failed)
            }
        }
        return .acknowledged(jobs[id]!.state, retryAt: nil)
    }

    mutating func cancel(_ id: String) -> CancelAnswer {
        if let index = inbox.firstIndex(where: { $0.id == id }) {
            let entry = inbox.remove(at: index)
            if entry.fields["_seal"] != nil { return .cancelled }
            admit(entry.id, entry.fields)
        }
        guard let job = job(id) else { return .unknown }
        switch job.state {
        case .waiting where job.hasCommit, .delayed where job.hasCommit:
            jobs[job.id]!.isWished = true
            if job.state == .delayed { promote(job.id) }
            return .requested
        case .waiting, .delayed:
            end(job.id, .cancelled)
            return .cancelled
        case .running where !job.isPublishing:
            jobs[job.id]!.isWished = true
            return .requested
        default: return .tooLate(job.state)
        }
    }

    /// What a retry should answer; nothing if only the kind `.invalid` is known.
    mutating func retry(_ id: String, _ changes: [String: String]) -> RetryAnswer? {
        if hasQueued(id) { return .wrongState(.queued) }
        guard let job = job(id) else { return .unknown }
        guard job.state == .failed || job.state == .cancelled else { return .wrongState(job.state) }
        guard job.isValid else { return nil }
        if let first = holder(job.dedup), first != job.id { return .dedupHeld(by: first) }
        sequence += 1
        var fresh = job
        fresh.state = .waiting
        fresh.sequence = sequence
        fresh.attempt = 0
        fresh.crashes = 0
        fresh.isDue = false
        fresh.isSentBack = false
        fresh.isExpired = false
        fresh.isLate = nil
        if let priority = changes["priority"] { fresh.rank = Self.ranks[priority]! }
        if let key = changes["limit_key"] { fresh.limitKey = key == "" ? nil : key }
        if let key = job.dedup { dedup[key] = job.id }
        jobs[job.id] = fresh
        return .retried
    }

    mutating func purge(_ state: JobState) -> Int {
        if state == .queued {
            let seals = inbox.filter { $0.fields["_seal"] != nil }
            defer { inbox = [] }
            for entry in seals { admit(entry.id, entry.fields) }
            return inbox.count - seals.count
        }
        guard state != .running else { return 0 }
        let purged = jobs.values.filter { $0.state == state }
        for job in purged {
            jobs[job.id]!.callback = nil
            end(job.id, .cancelled)
            jobs[job.id] = nil
            if let group = job.group { forget(job, group) }
        }
        return purged.count
    }
}
