extension QueueSnapshot {
    /// Whether each group has exactly its jobs, and counts them as they are, unless they were changing.
    func groupProblems() -> [String] {
        var problems: [String] = []
        for (name, fields) in groups where settled.contains(name) {
            let ids = members[name] ?? [:]
            if ids.isEmpty { problems.append("the group \(name) has no job") }
            let found = Dictionary(grouping: ids.keys.compactMap { jobs[$0]?["state"] }, by: \.self).mapValues(\.count)
            var sum = 0
            for state in JobState.allCases {
                let (count, there) = (Int(fields[state.rawValue] ?? "0") ?? -1, found[state.rawValue] ?? 0)
                sum += count
                // Jobs that are over count on after they were deleted.
                if state.isTerminal ? count < there : count != there {
                    problems.append("the group \(name) counts \(count) jobs as \(state.rawValue), and has \(there)")
                }
            }
            if fields["total"] != String(sum) { problems.append("the group \(name) has a total that is not \(sum)") }
            let left = ids.keys.contains { jobs[$0]?["state"].flatMap(JobState.init)?.isTerminal == false }
            if (fields["ended"] != nil) != (fields["sealed"] != nil && !left) {
                problems.append("the group \(name) says wrongly whether it has ended")
            }
        }
        for (name, ids) in members {
            if groups[name] == nil { problems.append("the group \(name) has jobs and no counts") }
            for (id, score) in ids where jobs[id]?["group"] != name || score != memberScore(id) {
                problems.append(
                    "the group \(name) has \(id) at \(score), which should be at \(memberScore(id) ?? "none")")
            }
        }
        for (id, fields) in jobs {
            if let name = fields["group"], members[name]?[id] == nil {
                problems.append("\(id) is not in its group \(name)")
            }
        }
        return problems
    }

    /// Whether each key of a limit has exactly the jobs that run or are parked under it.
    func limitProblems() -> [String] {
        var problems: [String] = []
        for (id, fields) in jobs {
            let key = fields["limit_key"] ?? ""
            let runs = fields["state"] == JobState.running.rawValue && !key.isEmpty
            if (running[key]?.contains(id) ?? false) != runs {
                problems.append("\(id) holds a place of \(key) wrongly")
            }
            if (fields["parked"] != nil) != (parked[key]?[id] != nil) {
                problems.append("\(id) is parked under \(key) wrongly")
            }
            if let score = parked[key]?[id], score != fields["score"] { problems.append("\(id) is parked at \(score)") }
        }
        for (key, ids) in running {
            for id in ids where jobs[id]?["limit_key"] != key { problems.append("\(id) holds a place of \(key)") }
        }
        for (key, ids) in parked {
            for id in ids.keys where jobs[id]?["limit_key"] != key { problems.append("\(id) is parked under \(key)") }
            let called = jobs.values.contains {
                $0["limit_key"] == key && $0["state"] == "waiting" && $0["parked"] == nil
            }
            if !called, paced[key] == nil, running[key]?.isEmpty ?? true, numbers[key] ?? numbers["*"] ?? 1 > 0 {
                problems.append("jobs are parked under \(key) and none runs or is called")
            }
        }
        return problems
    }

    private func memberScore(_ id: String) -> String? {
        guard let fields = jobs[id], let state = fields["state"].flatMap(JobState.init),
            let score = fields["score"].flatMap({ Int($0) })
        else { return nil }
        return String(GroupCursor.Rank(state).rawValue << 44 + score & (1 << 44 - 1))
    }
}
