import Jobs
import Lifecycle

extension Command {
    static let jobs = Command(
        "jobs", "lists jobs: running and waiting ones, then finished ones, the latest first",
        options: FilterOptions.all(states: JobState.allCases) + [
            JobsOptions.limit, JobsOptions.follow, .json, .queue, .redis,
        ],
        examples: [
            .init(line: "respool jobs --state failed", meaning: "lists failed jobs and their errors"),
            .init(line: "respool jobs --query talk.flac --older-than 3600", meaning: "those with this in id or source"),
            .init(line: "respool jobs --follow --json", meaning: "prints an object for each change, until Ctrl-C"),
        ]
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let filter = try FilterOptions.filter(arguments, states: JobState.allCases)
        let limit = try arguments.whole(JobsOptions.limit, in: 1...10_000_000) ?? 50
        let list = JobList(connection: connection)
        if arguments.has(JobsOptions.follow) {
            if let group = filter.group {
                throw .usage(
                    "--follow and --group are mutually exclusive: use `respool status --group \(group) --watch`")
            }
            var states = JobFilter()
            states.state = filter.state
            guard filter == states else {
                throw .usage("of the filters, --follow takes --state alone: leave out the others")
            }
            return try await EventFollower(
                list: list, state: filter.state, limit: limit, isJSON: arguments.has(.json)
            ).follow()
        }
        let jobs = try await list.read(filter, limit: limit)
        if arguments.has(.json) {
            StandardStream.output(jobs.map { JSONLine.text($0) + "\n" }.joined())
        } else {
            EmptyList.output(JobList.lines(jobs, state: filter.state), orSay: JobList.none(filter))
        }
        return .success
    }
}

enum JobsOptions {
    static let limit = Option("limit", letter: "n", value: "N", "at most this many", fallback: "50")
    static let follow = Option(
        "follow", letter: "f",
        "after the list, prints each change as it happens, also across outages of Redis; reports missed changes")
}

/// Reads jobs page by page.
struct JobList {
    let connection: QueueConnection

    /// The jobs that match; of a group, first those that have not ended, then the failed, cancelled and completed ones.
    func read(_ filter: JobFilter, limit: Int) async throws(CommandFailure) -> [JobRecord] {
        if let group = filter.group,
            try await connection.ask({ queue throws(QueueError) in try await queue.group(group) }) == nil
        {
            throw .noGroup(group)
        }
        var jobs: [JobRecord] = []
        var next: String?
        repeat {
            let (wanted, start) = (min(500, limit - jobs.count), next)
            let found = try await connection.ask { queue throws(QueueError) in
                try await queue.find(filter, from: start, limit: wanted)
            }
            jobs += found.jobs
            next = found.next
        } while next != nil && jobs.count < limit
        return Array(jobs.prefix(limit))
    }

    /// The message for an empty list.
    static func none(_ filter: JobFilter) -> String {
        var plain = JobFilter()
        (plain.state, plain.group) = (filter.state, filter.group)
        guard filter == plain else { return "no job matches" }
        let place = filter.group.map { "in the group \($0)" } ?? "in the queue"
        return filter.state.map { "no job \(place) is \($0.rawValue)" } ?? "no jobs \(place)"
    }

    /// A table of the jobs. On a terminal, the state column is omitted if all jobs are in one state.
    static func lines(
        _ jobs: [JobRecord], state: JobState? = nil, on terminal: Terminal = .output
    ) -> [String] {
        let now = WallClock.milliseconds()
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
