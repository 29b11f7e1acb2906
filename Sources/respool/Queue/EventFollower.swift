import JobSchema
import Jobs
import Lifecycle
import MediaTypes
import Redis

/// Prints the jobs of a queue, and then every change as it occurs.
struct EventFollower {
    let list: JobList
    let state: JobState?
    let limit: Int
    let isJSON: Bool

    /// Runs until standard output is closed, or the server returns an error. A lost connection is retried.
    func follow() async throws(CommandFailure) -> ExitStatus {
        let (connection, name) = (list.connection, list.connection.queue.name)
        let client = BlockingRedisClient(url: connection.url, name: "respool", key: QueueKeys(name).meta)
        var feed = EventFeed(client: client, name: name)
        try await connection.ask { _ throws(QueueError) in try await feed.open() }
        var (needsList, isAway) = (true, false)
        while !StandardStream.isOutputGone {
            do throws(CommandFailure) {
                if needsList { try await showList() }
                needsList = false
                let batch = try await connection.ask { _ throws(QueueError) in try await feed.next() }
                if isAway {
                    StandardStream.error("respool: Redis is reachable again, and no change was missed so far\n")
                }
                isAway = false
                if batch.hasGap {
                    StandardStream.error(
                        "respool: some changes are no longer in the stream; listing the current jobs\n")
                }
                needsList = batch.hasGap
                try await show(batch.events.filter { state == nil || $0.state == state?.rawValue })
            } catch {
                guard error.status == .unreachable else { throw error }
                if !isAway { StandardStream.error("respool: \(error.message); waiting for it\n") }
                isAway = true
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
        return .success
    }

    private func showList() async throws(CommandFailure) {
        var filter = JobFilter()
        filter.state = state
        let jobs = try await list.read(filter, limit: limit)
        let lines = isJSON ? jobs.map { JSONLine.text(Change($0)) } : JobList.lines(jobs)
        StandardStream.output(lines.map { $0 + "\n" }.joined())
    }

    private func show(_ events: [QueueEvent]) async throws(CommandFailure) {
        guard !isJSON else {
            return StandardStream.output(events.map { JSONLine.text(Change($0)) + "\n" }.joined())
        }
        var records: [String: JobRecord] = [:]
        for ids in Array(Set(events.map(\.id))).parts(of: 500) {
            let found = try await list.connection.ask { queue throws(QueueError) in try await queue.jobs(Array(ids)) }
            for (id, record) in zip(ids, found) { records[id] = record }
        }
        StandardStream.output(events.map { line($0, records[$0.id]) + "\n" }.joined())
    }

    private func line(_ event: QueueEvent, _ record: JobRecord?) -> String {
        let terminal = Terminal.output
        let time = WallClock.timestamp(milliseconds: event.moment)
        guard !event.id.isEmpty else { return "\(time) \(sentence(event))" }
        let label = record.map { " (\(JobLine($0).label(terminal)))" } ?? ""
        return "\(time) \(event.id) \(words(event, record))\(label)"
    }

    /// The sentence for an event that concerns no single job.
    private func sentence(_ event: QueueEvent) -> String {
        guard let group = event.details["group"] else { return "the queue is \(event.state)" }
        guard event.state == "group_ended" else { return "the group \(group) is \(event.state)" }
        let ends: [JobState] = [.completed, .failed, .cancelled]
        let counts = ends.map { "\(event.details[$0.rawValue] ?? "0") \($0.rawValue)" }
        return "the group \(group) has finished: \(counts.joined(separator: ", "))"
    }

    private func words(_ event: QueueEvent, _ record: JobRecord?) -> String {
        let details = event.details
        switch event.state {
        // The job's record describes this event only if its state has not changed since.
        case "completed", "failed":
            if let record, record.state.rawValue == event.state { return JobLine(record).plain }
            return details["code"].map { "\(event.state) \($0)" } ?? event.state
        case "delayed":
            let due = details["due"].flatMap { Int64($0) }
            return "delayed" + (due.map { " until \(WallClock.timestamp(milliseconds: $0))" } ?? "")
        case "running":
            let fraction = details["progress"].flatMap { Double($0) }.map { Formatting.percent($0) }
            let parts = [details["attempt"].map { "attempt \($0)" }, details["phase"], fraction]
            return (["running"] + parts.compactMap { $0 }).joined(separator: " ")
        case "duplicate": return "duplicate of \(details["of"] ?? "another")"
        default: return event.state
        }
    }
}

/// The JSON line of a change, or of a job's current state.
private struct Change: Encodable {
    /// The sequence number; `nil` in the list of current states.
    @Nullable var n: Int64?
    let at: String
    let id: String
    let state: String
    @Nullable var attempt: Int?
    @Nullable var phase: String?
    @Nullable var progress: Double?
    @Nullable var code: String?
    @Nullable var due: String?
    @Nullable var of: String?
    /// Of the job, or the group that was sealed or has ended, with its counts.
    @Nullable var group: String?
    @Nullable var completed: Int?
    @Nullable var failed: Int?
    @Nullable var cancelled: Int?

    init(_ event: QueueEvent) {
        let details = event.details
        n = event.number
        at = WallClock.timestamp(milliseconds: event.moment)
        id = event.id
        state = event.state
        attempt = details["attempt"].flatMap { Int($0) }
        phase = details["phase"]
        progress = details["progress"].flatMap { Double($0) }
        code = details["code"]
        due = details["due"].flatMap { Int64($0) }.map { WallClock.timestamp(milliseconds: $0) }
        of = details["of"]
        group = details["group"]
        completed = details["completed"].flatMap { Int($0) }
        failed = details["failed"].flatMap { Int($0) }
        cancelled = details["cancelled"].flatMap { Int($0) }
    }

    init(_ record: JobRecord) {
        at = WallClock.timestamp(milliseconds: record.finishedAt ?? record.startedAt ?? record.createdAt)
        n = nil
        id = record.id
        state = record.state.rawValue
        attempt = record.attempt
        phase = record.phase?.rawValue
        progress = record.progress
        (of, group, completed, failed, cancelled) = (nil, record.group, nil, nil, nil)
        code = record.error?.code.rawValue
        due = record.dueAt.map { WallClock.timestamp(milliseconds: $0) }
    }
}
