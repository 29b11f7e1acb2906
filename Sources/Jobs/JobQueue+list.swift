import Redis

extension JobQueue {
    /// A page of the jobs in a state, or in any: what runs and waits first, then what is over, the last first.
    package func list(
        state: JobState? = nil, limit: Int = 100, cursor: JobCursor? = nil
    ) async throws(QueueError) -> JobPage {
        let limit = max(1, min(limit, 1000))
        let states = state.map { [$0] } ?? Self.order
        var cursor = cursor ?? JobCursor(state: states[0], last: nil)
        var jobs: [JobRecord] = []
        while true {
            let wanted = limit - jobs.count
            let places = try await places(cursor, wanted)
            let state = cursor.state
            // A job that moved on since its index was read is on another page.
            jobs += try await self.jobs(places.map(\.id)).compactMap { $0 }.filter { $0.state == state }
            if places.count == wanted {
                return JobPage(jobs: jobs, next: JobCursor(state: state, last: places.last))
            }
            guard let index = states.firstIndex(of: state), index + 1 < states.count else {
                return JobPage(jobs: jobs, next: nil)
            }
            cursor = JobCursor(state: states[index + 1], last: nil)
        }
    }

    private static let order: [JobState] = [.running, .waiting, .delayed, .queued, .failed, .completed, .cancelled]

    private func places(_ cursor: JobCursor, _ limit: Int) async throws(QueueError) -> [JobCursor.Position] {
        let parts = try await run(
            QueueScript.list,
            [
                .text(cursor.state.rawValue), .integer(Int64(limit)), .text(cursor.last?.score ?? ""),
                .text(cursor.last?.id ?? ""),
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
