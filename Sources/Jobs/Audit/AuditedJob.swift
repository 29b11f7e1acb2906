/// A job and every reference to it, read at one moment.
struct AuditedJob {
    let id: String
    let fields: [String: String]
    /// Its score in each index that contains it.
    let scores: [String: String]
    let isLive: Bool
    /// The time to live of each key, by the prefix of the id in its name: -1 if it does not expire, else ms; `nil` or
    /// -2 if the key does not exist.
    let lives: [String: Int64]
    /// The id of the job that holds its `dedup` key.
    let holder: String?
    let memberScore: String?
    let hasPermit: Bool
    let parkedScore: String?

    /// The prefixes of a job's id in the names of its keys; every job has the first two.
    static let kinds = ["job", "spec", "result", "log", "commit"]

    private static let indexOf: [JobState: String] = [
        .waiting: "ready", .delayed: "delayed", .running: "lease", .completed: "done", .failed: "failed",
        .cancelled: "cancelled",
    ]

    /// The indexes of which exactly one contains a job.
    private static let stateIndexes = indexOf.values.sorted() + ["parked"]

    /// All indexes of jobs.
    static let indexes = stateIndexes + ["expiring"]

    /// A message for each inconsistency.
    var problems: [String] {
        guard has("job") else {
            // No script deletes a job and leaves a reference to it.
            return (scores.keys + (isLive ? ["live"] : [])).map { Self.isNone(id, in: $0) }
        }
        guard let state = fields["state"].flatMap(JobState.init),
            let index = fields["parked"] != nil ? "parked" : Self.indexOf[state]
        else { return ["job \(id) has the state \(fields["state"] ?? "none")"] }
        return membershipProblems(state, index) + fieldProblems(state) + keyProblems(state) + sharedProblems(state)
    }

    static func isNone(_ id: String, in index: String) -> String { "\(index) contains \(id), which is not a job" }

    private func has(_ kind: String) -> Bool { lives[kind] ?? -2 != -2 }

    /// Checks that the job is in exactly the indexes of its state.
    private func membershipProblems(_ state: JobState, _ index: String) -> [String] {
        var problems: [String] = []
        for name in Self.stateIndexes where (scores[name] != nil) != (name == index) {
            problems.append("job \(id) is \(state.rawValue) and \(scores[name] != nil ? "in" : "not in") \(name)")
        }
        if isLive != ["ready", "lease"].contains(index) {
            problems.append("job \(id) is \(state.rawValue), but \(isLive ? "in" : "not in") live")
        }
        let end = lastMoment(state)
        if scores["expiring"] != end {
            problems.append(
                "job \(id) expires at \(scores["expiring"] ?? "no time"), which should be \(end ?? "no time")")
        }
        return problems
    }

    /// When the job expires, in ms since 1970; a job that was started expires only at its deadline.
    private func lastMoment(_ state: JobState) -> String? {
        guard state == .waiting || state == .delayed, fields["commit"] == nil else { return nil }
        let start = fields["token"] == nil ? fields["expires"] : nil
        return [start, fields["deadline"]].compactMap { $0.flatMap { Int64($0) } }.min().map(String.init)
    }

    private func fieldProblems(_ state: JobState) -> [String] {
        var problems: [String] = []
        func expect(_ holds: Bool, _ what: String) {
            if !holds { problems.append("job \(id) is \(state.rawValue): \(what)") }
        }
        let attempt = Int(fields["attempt"] ?? "0") ?? -1
        expect(attempt >= 0 && attempt <= Int(fields["attempts"] ?? "5") ?? 0, "its attempt is \(attempt)")
        expect(Int(fields["score"] ?? "") != nil, "its score is not a whole number")
        switch state {
        case .waiting:
            let index = fields["parked"] == nil ? "ready" : "parked"
            expect(scores[index] == fields["score"], "its score differs from the index")
        case .delayed: expect(scores["delayed"] == fields["due"], "its due time differs from the index")
        case .running:
            for name in ["token", "worker", "started"] { expect(fields[name]?.isEmpty == false, "it has no \(name)") }
            expect(attempt >= 1, "it has no attempt")
            expect(
                !(fields["ended"] ?? "").hasPrefix((fields["token"] ?? "") + " "),
                "its token belongs to a finished attempt")
        default: expect(fields["finished"] != nil, "it has no end time")
        }
        let isPending = state == .running || !state.isTerminal && fields["commit"] != nil
        expect(fields["cancel"] == nil || isPending, "it has a cancel request")
        if state == .failed { expect(fields["error_code"] != nil && fields["error"] != nil, "it has no error") }
        if state == .completed { expect(fields["error"] == nil, "it has an error") }
        return problems
    }

    /// Checks that the job has exactly the keys of its state.
    private func keyProblems(_ state: JobState) -> [String] {
        var problems: [String] = []
        func expect(_ holds: Bool, _ what: String) {
            if !holds { problems.append("job \(id) is \(state.rawValue): \(what)") }
        }
        expect(has("spec"), "it has no spec")
        expect(state == .completed || state == .failed || !has("result"), "it has a result")
        expect(state != .completed || has("result"), "it has no result")
        expect(has("commit") == (fields["commit"] != nil), "its commit record and its field differ")
        expect(fields["commit"] == nil || !state.isTerminal, "it has a commit record")
        // The hash and the result stay until the job is trimmed.
        for kind in ["job", "spec", "result", "log"] where has(kind) {
            let isMortal = state.isTerminal && (kind == "spec" || kind == "log")
            expect((lives[kind] ?? -1 >= 0) == isMortal, isMortal ? "\(kind):… never expires" : "\(kind):… expires")
        }
        if fields["dedup"] != nil, !state.isTerminal {
            expect(holder == id, "its dedup key belongs to \(holder ?? "nobody")")
        }
        return problems
    }

    /// Checks the entries of the job under its group and its `limit_key`.
    private func sharedProblems(_ state: JobState) -> [String] {
        var problems: [String] = []
        if let group = fields["group"] {
            let due = fields["score"].flatMap { Int($0) }.map {
                String(GroupCursor.Rank(state).rawValue << 44 + $0 & (1 << 44 - 1))
            }
            if let memberScore, memberScore != due {
                problems.append(
                    "the group \(group) has \(id) at \(memberScore), which should be at \(due ?? "none")")
            } else if memberScore == nil {
                problems.append("\(id) is not in its group \(group)")
            }
        }
        let key = fields["limit_key"] ?? ""
        if hasPermit != (state == .running && !key.isEmpty) {
            problems.append("\(id) is \(state.rawValue), but has \(hasPermit ? "a" : "no") permit of \(key)")
        }
        if (fields["parked"] != nil) != (parkedScore != nil) {
            problems.append("\(id) is parked under \(key) in its field or in the index, but not in both")
        }
        if let parkedScore, parkedScore != fields["score"] { problems.append("\(id) is parked at \(parkedScore)") }
        return problems
    }
}
