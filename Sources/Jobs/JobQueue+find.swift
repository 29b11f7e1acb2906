import Redis

/// A part of the jobs that match a filter; it may be short or empty although more follow.
package struct FoundJobs: Sendable {
    /// The jobs that match, in the order of the list.
    package var jobs: [JobRecord] = []
    /// How many entries were looked at.
    package var scanned = 0
    /// The position where the list continues, as text; `nil` at its end.
    package var next: String?
}

extension JobQueue {
    /// The maximum number of entries that one call of `find` looks at.
    package static let maxScanned = 1000
    /// The maximum number of its reads.
    private static let maxReads = 40

    /// Up to `limit` jobs in some states that match a filter, from a position on. It looks at a bounded number of entries: call it
    /// again with `next`.
    package func find(
        _ filter: JobFilter, among states: Set<JobState> = Set(JobState.allCases), from start: String? = nil, limit: Int
    ) async throws(QueueError) -> FoundJobs {
        let states = filter.state.map { states.intersection([$0]) } ?? states
        guard !states.isEmpty else { return FoundJobs() }
        var found = FoundJobs(next: start)
        let now = filter.age == nil ? 0 : Self.milliseconds(try await send([["TIME"]])[0])
        for _ in 0..<Self.maxReads {
            let count = min(limit - found.jobs.count, Self.maxScanned - found.scanned)
            let (jobs, scanned, next) = try await read(filter.group, states, found.next, count)
            found.jobs += jobs.filter { states.contains($0.state) && filter.matches($0, at: now) }
            found.scanned += scanned
            found.next = next
            if next == nil || found.jobs.count >= limit || found.scanned >= Self.maxScanned { break }
        }
        return found
    }

    /// Some jobs of a group or of all, how many entries were looked at, and where to continue.
    private func read(
        _ group: String?, _ states: Set<JobState>, _ position: String?, _ count: Int
    ) async throws(QueueError) -> (jobs: [JobRecord], scanned: Int, next: String?) {
        guard let group else {
            let page = try await list(among: states, limit: count, cursor: position.flatMap(JobCursor.init(text:)))
            return (page.jobs, page.next == nil ? page.jobs.count : count, page.next?.text)
        }
        let ranks = Set(states.map(GroupCursor.Rank.init))
        let page = try await members(
            of: group, rank: ranks.count == 1 ? ranks.first : nil, limit: count,
            cursor: position.flatMap(GroupCursor.init(text:)))
        let jobs = try await jobs(page.ids)
        return (jobs.compactMap { $0 }, page.ids.count, page.next?.text)
    }
}
