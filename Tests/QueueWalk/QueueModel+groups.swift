import Jobs

extension QueueModel {
    struct Group {
        var isSealed = false
        var hasEnded = false
        var callback: String?
        var ids: Set<String> = []
        /// Jobs that were over and are deleted.
        var past: [JobState: Int] = [:]
    }

    func isSealed(_ group: String?) -> Bool { group.flatMap { groups[$0]?.isSealed } ?? false }

    /// The first job that may not join its group.
    func firstSealed(_ specs: [[String: String]]) -> Int? { specs.firstIndex { isSealed($0["group"]) } }

    /// How many jobs of a group are in a state.
    func count(_ group: Group, _ state: JobState) -> Int {
        group.ids.count { jobs[$0]?.state == state } + (group.past[state] ?? 0)
    }

    /// Takes a deleted job out; a group ends with its last one.
    mutating func forget(_ job: Job, _ group: String) {
        groups[group]!.ids.remove(job.id)
        if job.state.isTerminal { groups[group]!.past[job.state, default: 0] += 1 }
        groups[group]!.hasEnded = close(group, groups[group]!)
        if groups[group]!.ids.isEmpty { groups[group] = nil }
    }

    /// Whether one more job of the key may begin.
    func hasPermit(_ key: String?) -> Bool {
        guard let key else { return true }
        guard !begun.contains(key) else { return false }
        guard let limit = limits[key] ?? limits["*"] else { return true }
        return jobs.values.count { $0.limitKey == key && $0.state == .running } < limit
    }
}
