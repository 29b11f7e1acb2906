import Jobs
import Lifecycle

extension Command {
    static let jobs = Command(
        "jobs", "lists jobs: running and waiting ones, then finished ones, the latest first",
        options: [JobsOptions.state, .group, JobsOptions.limit, JobsOptions.follow, .json, .queue, .redis],
        examples: [
            .init(line: "respool jobs --state failed", meaning: "lists failed jobs and their errors"),
            .init(line: "respool jobs --follow --json", meaning: "prints an object for each change, until Ctrl-C"),
        ]
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let name = try arguments.word(JobsOptions.state, of: JobState.allCases.map(\.rawValue))
        let limit = try arguments.whole(JobsOptions.limit, in: 1...10_000_000) ?? 50
        let (list, state, group) = (
            JobList(connection: connection), name.flatMap(JobState.init), try arguments.group()
        )
        if arguments.has(JobsOptions.follow) {
            if let group {
                throw .usage(
                    "--follow and --group are mutually exclusive: use `respool status --group \(group) --watch`")
            }
            return try await EventFollower(list: list, state: state, limit: limit, isJSON: arguments.has(.json))
                .follow()
        }
        let jobs =
            if let group {
                try await list.read(group: group, state: state, limit: limit)
            } else {
                try await list.read(state: state, limit: limit)
            }
        if arguments.has(.json) {
            StandardStream.output(jobs.map { JSONLine.text($0) + "\n" }.joined())
        } else {
            EmptyList.output(JobList.lines(jobs, state: state), orSay: JobList.none(state, group))
        }
        return .success
    }
}

enum JobsOptions {
    static let state = Option(
        "state", letter: "s", value: "STATE",
        "only this state: \(JobState.allCases.map(\.rawValue).joined(separator: ", "))",
        suggestion: .words(JobState.allCases.map(\.rawValue)))
    static let limit = Option("limit", letter: "n", value: "N", "at most this many", fallback: "50")
    static let follow = Option(
        "follow", letter: "f",
        "after the list, prints each change as it happens, also across outages of Redis; reports missed changes")
}

/// Reads jobs page by page.
struct JobList {
    let connection: QueueConnection

    func read(state: JobState?, limit: Int) async throws(CommandFailure) -> [JobRecord] {
        var jobs: [JobRecord] = []
        var cursor: JobCursor?
        repeat {
            let (wanted, place) = (min(500, limit - jobs.count), cursor)
            let page = try await connection.ask { queue throws(QueueError) in
                try await queue.list(state: state, limit: wanted, cursor: place)
            }
            jobs += page.jobs
            cursor = page.next
        } while cursor != nil && jobs.count < limit
        return Array(jobs.prefix(limit))
    }

    /// The jobs of a group: first those that have not ended, then the failed, cancelled and completed ones.
    func read(group: String, state: JobState?, limit: Int) async throws(CommandFailure) -> [JobRecord] {
        guard try await connection.ask({ queue throws(QueueError) in try await queue.group(group) }) != nil else {
            throw .noGroup(group)
        }
        var jobs: [JobRecord] = []
        var cursor: GroupCursor?
        repeat {
            let place = cursor
            let page = try await connection.ask { queue throws(QueueError) in
                try await queue.members(of: group, rank: state.map(GroupCursor.Rank.init), cursor: place)
            }
            let records = try await connection.ask { queue throws(QueueError) in try await queue.jobs(page.ids) }
            jobs += records.compactMap { $0 }.filter { state == nil || $0.state == state }
            cursor = page.next
        } while cursor != nil && jobs.count < limit
        return Array(jobs.prefix(limit))
    }

    /// The message for an empty list.
    static func none(_ state: JobState?, _ group: String?) -> String {
        let place = group.map { "in the group \($0)" } ?? "in the queue"
        return state.map { "no job \(place) is \($0.rawValue)" } ?? "no jobs \(place)"
    }

    /// A table of the jobs. On a terminal, the state column is omitted if all jobs are in one state.
    static func lines(_ jobs: [JobRecord], state: JobState? = nil) -> [String] {
        let (terminal, now) = (Terminal.output, WallClock.milliseconds())
        let hasState = state == nil || !terminal.isInteractive
        var table =
            hasState
            ? Table(["ID": .left, "STATE": .left, "AGE": .right, "JOB": .left, "DETAIL": .left])
            : Table(["ID": .left, "AGE": .right, "JOB": .left, "DETAIL": .left])
        for job in jobs {
            let age = Formatting.span(Double(max(0, now - job.createdAt)) / 1000)
            let line = JobLine(job)
            let detail = job.state == .running ? line.figures(hasUnicode: terminal.hasUnicode) : line.detail
            table.append(
                [.init(job.id, .bold)] + (hasState ? [.init(job.state.rawValue, line.color)] : []) + [
                    .init(age), .init(line.label(terminal)), .init(detail == job.state.rawValue ? "" : detail),
                ])
        }
        return jobs.isEmpty ? [] : table.lines(for: terminal)
    }
}
