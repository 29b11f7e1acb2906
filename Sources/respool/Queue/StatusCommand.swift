import Jobs

extension Command {
    static let status = Command(
        "status", usages: ["[ID…]", "--group NAME"], "shows the queue, the given jobs, or a group",
        options: [
            StatusOptions.watch, .group,
            Option("json", "prints JSON Lines: one object per job, or one for the whole queue"),
            .queue,
            .redis,
        ],
        examples: [
            .init(
                line: "respool status --watch", meaning: "shows the queue, its workers and running jobs, until Ctrl-C"),
            .init(
                line: "respool status --watch 1795200918742-0",
                meaning: "shows one job with bar, speed and time left, until it finishes"),
            .init(
                line: "respool status --group nightly --watch",
                meaning: "shows done, failed and left, until a sealed group has finished"),
        ],
        operands: 0...Int.max
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let (isWatching, isJSON) = (arguments.has(StatusOptions.watch), arguments.has(.json))
        if let group = try arguments.group() {
            if let id = arguments.operands.first {
                throw .usage("'\(id)' and --group are mutually exclusive: give ids or a group")
            }
            return try await GroupView(connection: connection, name: group, isJSON: isJSON).show(isWatching: isWatching)
        }
        guard !arguments.operands.isEmpty else {
            return try await QueueOverview(connection: connection).show(isWatching: isWatching, isJSON: isJSON)
        }
        if isWatching {
            let follower = JobFollower(
                connection: connection, terminal: .output, form: isJSON ? .jsonChanges : .changes)
            return try await follower.follow(arguments.operands, isPatient: false)
        }
        return try await JobDetails(connection: connection).show(arguments.operands, isJSON: isJSON)
    }
}

enum StatusOptions {
    static let watch = Option(
        "watch", letter: "w", "updates until all of these jobs finish; exits with 1 if one did not complete")
}
