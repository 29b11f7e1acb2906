import Redis

extension JobQueue {
    /// A page of the jobs in a state, or in any: running and waiting ones first, then terminal ones with the latest
    /// first.
    package func list(
        state: JobState? = nil, limit: Int = 100, cursor: JobCursor? = nil
    ) async throws(QueueError) -> JobPage {
        try await list(among: state.map { [$0] } ?? Set(JobState.allCases), limit: limit, cursor: cursor)
    }

    /// A page of the jobs in some states, at least one.
    func list(
        among states: Set<JobState>, limit: Int, cursor: JobCursor?
    ) async throws(QueueError) -> JobPage {
        let limit = max(1, min(limit, 1000))
        let groups = Self.order.map { $0.filter { states.contains($0.state) } }.filter { !$0.isEmpty }
        var cursor = cursor ?? JobCursor(shelves: groups[0])
        var jobs: [JobRecord] = []
        while true {
            let wanted = limit - jobs.count
            if cursor.shelves == [.state(.queued)] {
                let page = try await inboxEntries(after: cursor.last[.state(.queued)]?.id, limit: wanted)
                jobs += page.entries.compactMap { RawJob($0).map { JobRecord($0) } }
                if let next = page.next {
                    cursor.last[.state(.queued)] = JobCursor.Position(score: "0", id: next)
                    return JobPage(jobs: jobs, next: cursor)
                }
            } else {
                let places = try await places(cursor, wanted)
                let records = try await self.jobs(places.map(\.position.id))
                // A job that changed its state after its index was read is on another page.
                jobs += zip(places, records).compactMap { $1?.state == $0.shelf.state ? $1 : nil }
                if places.count == wanted {
                    for place in places { cursor.last[place.shelf] = place.position }
                    return JobPage(jobs: jobs, next: cursor)
                }
            }
            guard let index = groups.firstIndex(of: cursor.shelves), index + 1 < groups.count else {
                return JobPage(jobs: jobs, next: nil)
            }
            cursor = JobCursor(shelves: groups[index + 1])
        }
    }

    /// The order of the lists; the jobs of indexes in the same element are merged.
    static let order: [[JobCursor.Shelf]] = [
        [.state(.running)], [.state(.waiting)], [.parked], [.state(.delayed)], [.state(.queued)],
        [.state(.completed), .state(.failed), .state(.cancelled)],
    ]

    /// The next positions in the indexes; if there are several, merged with the latest first.
    private func places(
        _ cursor: JobCursor, _ limit: Int
    ) async throws(QueueError) -> [(shelf: JobCursor.Shelf, position: JobCursor.Position)] {
        var places: [(shelf: JobCursor.Shelf, position: JobCursor.Position)] = []
        for shelf in cursor.shelves {
            places += try await self.places(of: shelf, after: cursor.last[shelf], limit).map {
                (shelf: shelf, position: $0)
            }
        }
        guard cursor.shelves.count > 1 else { return places }
        func time(_ place: JobCursor.Position) -> Double { Double(place.score) ?? 0 }
        return Array(places.sorted { time($0.position) > time($1.position) }.prefix(limit))
    }

    private func places(
        of shelf: JobCursor.Shelf, after last: JobCursor.Position?, _ limit: Int
    ) async throws(QueueError) -> [JobCursor.Position] {
        let parts = try await run(
            QueueScript.list,
            [
                .text(shelf.name), .integer(Int64(limit)), .text(last?.score ?? ""), .text(last?.id ?? ""),
            ]
        ).array()
        guard parts.count.isMultiple(of: 2) else { throw .unexpectedAnswer(script: "list", "an odd number of parts") }
        var places: [JobCursor.Position] = []
        for index in stride(from: 0, to: parts.count, by: 2) {
            places.append(.init(score: try parts[index].text(), id: try parts[index + 1].text()))
        }
        return places
    }
}
