import Lifecycle

extension QueueSnapshot {
    /// A sentence for each fault.
    var problems: [String] {
        jobProblems() + indexProblems() + keyProblems() + bellProblems() + groupProblems() + limitProblems()
            + expiryProblems() + scheduleProblems() + callbackProblems()
    }

    /// What any worker would have seen to within a second.
    func overdueProblems() -> [String] {
        let tolerance: Int64 = 5000
        let grace = Int64(meta["grace"] ?? "") ?? 0
        var problems: [String] = []
        for (id, score) in indexes["lease"] ?? [:] {
            let end = max(Int64(score) ?? 0, grace)
            if end + tolerance < now {
                problems.append(
                    "job \(id): its lease ended at \(WallClock.timestamp(milliseconds: end)), and nobody reaped it")
            }
        }
        for (id, score) in indexes["delayed"] ?? [:] {
            let due = Int64(score) ?? 0
            if due + tolerance < now {
                problems.append(
                    "job \(id) was due at \(WallClock.timestamp(milliseconds: due)), and nobody promoted it")
            }
        }
        for (id, score) in indexes["expiring"] ?? [:] where (Int64(score) ?? 0) + tolerance < now {
            let end = WallClock.timestamp(milliseconds: Int64(score) ?? 0)
            problems.append("job \(id) was to be given up at \(end), and nobody did")
        }
        for (name, score) in dueSchedules where (Int64(score) ?? .max) < now - tolerance {
            let due = WallClock.timestamp(milliseconds: Int64(score) ?? 0)
            problems.append("the schedule \(name) was due at \(due), and nobody ran it")
        }
        for (key, score) in paced where (Int64(score) ?? 0) + tolerance < now {
            let due = WallClock.timestamp(milliseconds: Int64(score) ?? 0)
            problems.append("the next job of \(key) was to begin at \(due), and nobody called it")
        }
        return problems + overdueCallbacks()
    }

    /// Whether each job is in exactly the indexes that its state says, with exactly the keys that belong to it.
    func jobProblems() -> [String] {
        jobs.flatMap { id, fields in
            guard let state = fields["state"].flatMap(JobState.init), let index = Self.index(of: fields) else {
                return ["job \(id) has the state \(fields["state"] ?? "none")"]
            }
            return membershipProblems(id, state, index) + fieldProblems(id, state, fields)
                + keyProblems(id, state, fields)
        }
    }

    private func membershipProblems(_ id: String, _ state: JobState, _ index: String) -> [String] {
        var problems: [String] = []
        for name in Self.indexes {
            let isThere = indexes[name]?[id] != nil
            if isThere != (name == index) {
                problems.append("job \(id) is \(state.rawValue) and \(isThere ? "in" : "not in") \(name)")
            }
        }
        if live.contains(id) != ["ready", "lease"].contains(index) {
            problems.append("job \(id) is \(state.rawValue) and \(live.contains(id) ? "in" : "not in") live")
        }
        return problems
    }

    private func fieldProblems(_ id: String, _ state: JobState, _ fields: [String: String]) -> [String] {
        var problems: [String] = []
        func expect(_ holds: Bool, _ what: String) {
            if !holds { problems.append("job \(id) is \(state.rawValue): \(what)") }
        }
        let attempt = Int(fields["attempt"] ?? "0") ?? -1
        expect(attempt >= 0 && attempt <= Int(fields["attempts"] ?? "5") ?? 0, "its attempt is \(attempt)")
        expect(Int(fields["score"] ?? "") != nil, "its score is no whole number")
        switch state {
        case .waiting:
            let index = fields["parked"] == nil ? "ready" : "parked"
            expect(indexes[index]?[id] == fields["score"], "its score differs from the index")
        case .delayed: expect(indexes["delayed"]?[id] == fields["due"], "it is due at another time than the index says")
        case .running:
            for name in ["token", "worker", "started"] { expect(fields[name]?.isEmpty == false, "it has no \(name)") }
            expect(attempt >= 1, "it has no attempt")
            expect(!(fields["ended"] ?? "").hasPrefix((fields["token"] ?? "") + " "), "its token has ended")
        default: expect(fields["finished"] != nil, "it has no time of its end")
        }
        expect(fields["cancel"] == nil || state == .running, "it has a wish to be cancelled")
        if state == .failed { expect(fields["error_code"] != nil && fields["error"] != nil, "it has no error") }
        if state == .completed { expect(fields["error"] == nil, "it has an error") }
        return problems
    }

    private func keyProblems(_ id: String, _ state: JobState, _ fields: [String: String]) -> [String] {
        var problems: [String] = []
        func expect(_ holds: Bool, _ what: String) {
            if !holds { problems.append("job \(id) is \(state.rawValue): \(what)") }
        }
        expect(keys.contains("spec:" + id), "it has no spec")
        let mayHaveResult = state == .completed || state == .failed
        expect(mayHaveResult || !keys.contains("result:" + id), "it has a result")
        expect(state != .completed || keys.contains("result:" + id), "it has no result")
        expect(keys.contains("commit:" + id) == (fields["commit"] != nil), "its commit record and its field differ")
        expect(fields["commit"] == nil || !state.isTerminal, "it has a commit record")
        for kind in ["job:", "spec:", "result:", "log:"] where keys.contains(kind + id) {
            // A group keeps hold of the hash until the job is trimmed.
            let isMortal = state.isTerminal && (kind != "job:" || fields["group"] == nil)
            expect(mortal.contains(kind + id) == isMortal, "whether \(kind)… has a time to live")
        }
        if let key = fields["dedup"], !state.isTerminal {
            expect(dedup[key] == id, "its dedup key is held by \(dedup[key] ?? "nobody")")
        }
        return problems
    }

    /// Whether each index names only jobs that are there, in an order that is exact.
    func indexProblems() -> [String] {
        var problems: [String] = []
        for (name, members) in indexes where name != "workers" {
            for id in members.keys where jobs[id] == nil { problems.append("\(name) names \(id), which is no job") }
        }
        for id in live where jobs[id] == nil { problems.append("live names \(id), which is no job") }
        let scores = (indexes["ready"] ?? [:]).values
        if Set(scores).count != scores.count { problems.append("two jobs have one place in ready") }
        let last = Int(meta["seq"] ?? "0") ?? 0
        for score in scores where (Int(score) ?? .max) & (1 << 44 - 1) > last {
            problems.append("ready has the sequence number \(score), and the last is \(last)")
        }
        return problems
    }

    /// Whether each key belongs to something.
    func keyProblems() -> [String] {
        let single: Set = [
            "in", "ready", "delayed", "lease", "live", "done", "failed", "cancelled", "meta", "events", "workers",
            "parked", "limits", "rates", "paced", "expiring", "schedules", "callbacks", "called", "aliases",
        ]
        var problems: [String] = []
        for key in keys where !single.contains(key) {
            let (kind, rest) = Self.parts(key)
            switch kind {
            case "job", "group", "limit", "parked", "schedule", "callback", "callbacks", "calling": break
            case "spec", "result", "log", "commit":
                if jobs[rest] == nil { problems.append("\(key) belongs to no job") }
            case "dedup":
                let job = jobs[dedup[rest] ?? ""]
                if job?["dedup"] != rest || job?["state"].flatMap(JobState.init)?.isTerminal != false {
                    problems.append("\(key) is held by \(dedup[rest] ?? "nobody"), which is no such living job")
                }
            case "once", "alias", "worker", "rate", "stats":
                if !mortal.contains(key) { problems.append("\(key) would stay for ever") }
            default: problems.append("\(key) is unknown")
            }
        }
        return problems
    }

    /// Whether there is a bell exactly where it is needed.
    func bellProblems() -> [String] {
        let hanging = (meta["bell"] ?? "").split(separator: " ").first.map(String.init)
        var problems: [String] = []
        if bells != (hanging.map { [$0] } ?? []) {
            problems.append("the inbox has the bells \(bells), and meta has \(hanging ?? "none")")
        }
        if hasWork, hanging == nil { problems.append("there is work, and no bell") }
        if meta["paused"] != nil, hanging != nil { problems.append("a bell hangs while the queue is paused") }
        return problems
    }
}
