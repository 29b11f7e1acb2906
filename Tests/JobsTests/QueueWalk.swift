import Jobs
import Lifecycle
import Redis
import SlotProtocol
import Testing

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
    let fixture: QueueFixture
    let seed: UInt64
    var random: SeededGenerator
    var model = QueueModel()
    /// Every id and token that any client ever had, stale ones too.
    var held: [(id: String, token: String)] = []
    var ids: [String] = ["1-1"]
    var enqueued: [(nonce: String, specs: [[String: String]], answer: [Enqueued])] = []
    var nonces: [String] = []
    var groups: Set<String> = []
    var sent: [Sent] = []
    var steps: [String] = []
    private var lastStep = ContinuousClock.now

    init(_ fixture: QueueFixture, seed: UInt64) {
        self.fixture = fixture
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func step() async throws {
        try await keepSeen()
        switch Int.random(in: 0..<110, using: &random) {
        case 0..<14: try await push()
        case 14..<22: try await enqueue()
        case 22..<40: try await claim()
        case 40..<50: try await beat()
        case 50..<56: try await publish()
        case 56..<78: try await finish()
        case 78..<84: try await cancel()
        case 84..<89: try await retry()
        case 89..<91: try await pause()
        case 91..<95: try await endLeases()
        case 95..<99: try await makeDue()
        case 99..<102: try await limit()
        case 102..<103: try await seal()
        case 103..<105: try await passDeadlines()
        case 105..<109: try await call()
        default: try await purge()
        }
        model.closeGroups()
    }

    /// Holds all that can be read against the model.
    func compare() async throws {
        let known = ids
        for (id, record) in zip(known, try await fixture.queue.jobs(known)) {
            try check(record?.state, model.state(id), "state of \(id)")
            guard let record, record.state != .queued, let job = model.job(id) else { continue }
            try check(record.id, job.id, "id of \(id)")
            try check([record.attempt, record.crashes], [job.attempt, job.crashes], "attempt and crashes of \(id)")
        }
        let stats = try await fixture.queue.stats()
        for state in JobState.allCases {
            let expected = state == .queued ? model.inbox.count : model.jobs.values.filter { $0.state == state }.count
            try check(stats[state], expected, "count of \(state)")
        }
        try await compareGroups()
        try await compareCallbacks()
        let problems = try await QueueAudit(fixture.queue).problems()
        try check(problems, [], "audit")
    }

    private func compareGroups() async throws {
        for name in groups {
            let (record, group) = (try await fixture.queue.group(name), model.groups[name])
            try check(record != nil, group != nil, "whether there is the group \(name)")
            guard let record, let group else { continue }
            try check(record.isSealed, group.isSealed, "whether the group \(name) is sealed")
            for state in JobState.allCases {
                try check(record[state], model.count(group, state), "count of \(state) in the group \(name)")
            }
            let ids = try await fixture.queue.members(of: name, limit: 1000).ids
            try check(Set(ids), group.ids, "the jobs of the group \(name)")
        }
    }

    func check<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        guard found != expected else { return }
        throw Difference(
            description: """
                seed \(seed), step \(steps.count): \(what) is \(found), and the model says \(expected)
                \(steps.suffix(25).joined(separator: "\n"))
                """)
    }

    struct Difference: Error, CustomStringConvertible { let description: String }

    /// A machine that stood still for seconds must not look like an outage of Redis.
    private mutating func keepSeen() async throws {
        if ContinuousClock.now - lastStep > .seconds(1) {
            let now = String(WallClock.milliseconds() - 1)
            _ = try await fixture.client.send(["HSET", .text(fixture.queue.keys.meta), "seen", .text(now)])
        }
        lastStep = .now
    }
}
