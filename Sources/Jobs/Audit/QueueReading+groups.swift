import Redis

extension QueueReading {
    /// Checks that each group has exactly its jobs and that its counts are right, unless they changed during the
    /// reading.
    mutating func readGroups(_ names: [String]) async throws(QueueError) {
        let members = names.filter { $0.hasSuffix(":ids") }.map { String($0.dropLast(4)) }
        let owned = try await atomically(
            each: members.map { [["EXISTS", key("group:\($0):ids")], ["EXISTS", key("group:\($0)")]] })
        for (name, pair) in zip(members, owned) where pair == [.integer(1), .integer(0)] {
            suspects.add("group:\(name):ids", "the group \(name) has jobs, but no counts")
        }
        for some in names.filter({ !$0.hasSuffix(":ids") }).chunks(of: 50) { try await readCounts(some) }
    }

    private mutating func readCounts(_ names: [String]) async throws(QueueError) {
        let before = try await groups(names)
        var found: [String: [String: Int]] = [:]
        var walk = KeyWalk(queue, sorted: names.map { "group:\($0):ids" })
        while let members = try await walk.next() {
            let jobs = try await queue.send(members.map(groupAndState))
            for (member, job) in zip(members, jobs) {
                found[member.name, default: [:]][job.array?.last?.string ?? "none", default: 0] += 1
            }
            let foreign = zip(members, jobs).filter { !Self.belongs($0, $1) }.map(\.0)
            for member in try await stillWrong(foreign, groupAndState, unless: Self.belongs) {
                let name = member.name.dropFirst(6).dropLast(4)
                suspects.add(
                    "group:\(name)", "the group \(name) contains \(member.text), which belongs to another group or none"
                )
            }
        }
        let after = try await groups(names)
        for (index, name) in names.enumerated() where before[index] == after[index] && !after[index].isEmpty {
            for problem in Self.problems(name, after[index], found["group:\(name):ids"] ?? [:]) {
                suspects.add("group:\(name)", problem)
            }
        }
    }

    private func groupAndState(_ member: KeyWalk.Member) -> RedisCommand {
        ["HMGET", key("job:" + member.text), "group", "state"]
    }

    private static func belongs(_ member: KeyWalk.Member, _ job: RedisValue) -> Bool {
        "group:\(job.array?.first?.string ?? ""):ids" == member.name
    }

    private func groups(_ names: [String]) async throws(QueueError) -> [[String: String]] {
        try await queue.send(names.map { ["HGETALL", key("group:" + $0)] }).map(Self.texts)
    }

    /// The differences between a group's hash and its jobs, counted by state.
    private static func problems(_ name: String, _ fields: [String: String], _ found: [String: Int]) -> [String] {
        var problems: [String] = []
        if found.isEmpty { problems.append("the group \(name) has no jobs") }
        var (sum, left) = (0, 0)
        for state in JobState.allCases {
            let (count, there) = (Int(fields[state.rawValue] ?? "0") ?? -1, found[state.rawValue] ?? 0)
            sum += count
            if !state.isTerminal { left += there }
            // Deleted terminal jobs are still counted.
            if state.isTerminal ? count < there : count != there {
                problems.append("the group \(name) counts \(count) jobs as \(state.rawValue), but has \(there)")
            }
        }
        if fields["total"] != String(sum) { problems.append("the group \(name) has a total that is not \(sum)") }
        if (fields["ended"] != nil) != (fields["sealed"] != nil && left == 0) {
            problems.append("the group \(name) has an `ended` field that does not match its jobs")
        }
        return problems
    }
}
