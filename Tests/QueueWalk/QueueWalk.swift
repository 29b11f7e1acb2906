import JobSchema
import Jobs
import Lifecycle
import Redis

/// Numbers that are the same for the same seed. (SplitMix64)
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Random calls by many clients, each answer held against the model's.
struct QueueWalk {
    let client: RedisClient
    let queue: JobQueue
    let seed: UInt64
    var random: SeededGenerator
    var model = QueueModel()
    /// Every id and token that any client ever had, stale ones too.
    var held: [(id: String, token: String)] = []
    var ids: [String] = ["1-1"]
    var enqueued: [(nonce: String, specs: [[String: String]], answer: [Enqueued])] = []
    var claims: [(worker: String, request: ClaimRequest)] = []
    var groups: Set<String> = []
    var sent: [Sent] = []
    /// The token of each callback's last try that ended.
    var finished: [String: String] = [:]
    /// Schedules as clients saw them, with how the call that put each was told from others.
    var seen: [(schedule: ScheduleRecord, nonce: String)] = []
    let table: StateTable
    /// The position of the last event that was read, and the state of each job after it.
    var lastEvent = ""
    var states: [String: String] = [:]
    /// The changes of state that happened.
    var changes: Set<StateTable.Change> = []
    /// What was done last, for the report of a difference.
    private var story: [() -> String] = []
    var steps = 0
    private var lastStep = ContinuousClock.now

    /// A walk on a queue that is empty.
    init(_ client: RedisClient, seed: UInt64, table: StateTable) throws {
        var settings = QueueSettings()
        // Only the walk itself lets time pass.
        settings.lease = .seconds(3600)
        settings.backoff = Backoff(base: .seconds(86_400_000), cap: .seconds(86_400_000))
        self.client = client
        queue = JobQueue(client: client, name: try QueueName("walk"), settings: settings)
        self.seed = seed
        self.table = table
        random = SeededGenerator(seed: seed)
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func chooseNonce() -> String {
        let digits = String(random.next(), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    mutating func tell(_ sentence: @autoclosure @escaping () -> String) {
        story.append(sentence)
        if story.count > 60 { story.removeFirst(30) }
    }

    mutating func step() async throws {
        steps += 1
        try await keepSeen()
        let number = Int.random(in: 0..<129, using: &random)
        let scripts = try await perform(number)
        model.closeGroups()
        try await followStates(scripts)
    }

    /// Performs one operation. Returns the names of the scripts that may have changed the state of a job.
    private mutating func perform(_ number: Int) async throws -> Set<String> {
        switch number {
        case 0..<14: try await push()
        case 14..<22:
            try await enqueue()
            return ["enqueue"]
        case 22..<40:
            try await claim()
            return ["claim"]
        case 40..<50:
            try await beat()
            return ["beat", "admit"]
        case 50..<56: try await publish()
        case 56..<78:
            try await finish()
            return ["finish"]
        case 78..<84:
            try await cancel()
            return ["cancel"]
        case 84..<89:
            try await retry()
            return ["retry"]
        case 89..<91: try await pause()
        case 91..<95: try await endLeases()
        case 95..<99: try await makeDue()
        case 99..<102: try await limit()
        case 102..<104: try await rate()
        case 104..<106: try await letMinutesPass()
        case 106..<107:
            try await seal()
            return ["admit_and_seal"]
        case 107..<109: try await passDeadlines()
        case 109..<113: try await call()
        case 113..<118:
            try await schedule()
            return ["schedule"]
        case 118..<122:
            try await recover()
            return ["recover"]
        case 122..<126:
            try await reschedule()
            return ["reschedule", "admit"]
        case 126..<128: try await repair()
        default:
            try await purge()
            return ["purge"]
        }
        return []
    }

    /// Holds all that can be read against the model.
    func compare() async throws {
        let known = ids
        for (id, record) in zip(known, try await queue.jobs(known)) {
            try check(record?.state, model.state(id), "state of \(id)")
            guard let record, record.state != .queued, let job = model.job(id) else { continue }
            try check(record.id, job.id, "id of \(id)")
            try check([record.attempt, record.crashes], [job.attempt, job.crashes], "attempt and crashes of \(id)")
        }
        let stats = try await queue.stats()
        for state in JobState.allCases {
            let expected = state == .queued ? model.inbox.count : model.jobs.values.filter { $0.state == state }.count
            try check(stats[state], expected, "count of \(state)")
        }
        try await compareGroups()
        try await compareCallbacks()
        try await compareSchedules()
    }

    /// Holds all keys against each other.
    func audit() async throws { try check(try await QueueAudit(queue).problems(), [], "audit") }

    private func compareGroups() async throws {
        for name in groups {
            let (record, group) = (try await queue.group(name), model.groups[name])
            try check(record != nil, group != nil, "whether there is the group \(name)")
            guard let record, let group else { continue }
            try check(record.isSealed, group.isSealed, "whether the group \(name) is sealed")
            for state in JobState.allCases {
                try check(record[state], model.count(group, state), "count of \(state) in the group \(name)")
            }
            let ids = try await queue.members(of: name, limit: 1000).ids
            try check(Set(ids), group.ids, "the jobs of the group \(name)")
        }
    }

    func check<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        guard found != expected else { return }
        throw Difference(
            description: """
                SEED=\(seed), step \(steps): \(what) is \(found), and the model says \(expected)
                \(story.suffix(30).map { $0() }.joined(separator: "\n"))
                """)
    }

    struct Difference: Error, CustomStringConvertible { let description: String }

    /// A machine that stood still for seconds must not look like an outage of Redis.
    private mutating func keepSeen() async throws {
        if ContinuousClock.now - lastStep > .seconds(1) { try await letSweep() }
        lastStep = .now
    }

    /// Makes the last sweep so old that the next claim sweeps, as the model does.
    func letSweep() async throws {
        let seen = String(WallClock.milliseconds() - 100)
        _ = try await client.send(["HSET", .text(queue.keys.meta), "seen", .text(seen)])
    }
}
