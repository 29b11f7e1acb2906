import Jobs

extension Command {
    static let pause = Command(
        "pause", "starts no more jobs; running ones continue",
        details: [
            "With --wait, drains the queue: returns once no job runs. The queue stays paused, also after Ctrl-C, until `respool resume`."
        ],
        options: [PauseOptions.wait, PauseOptions.timeout, .queue, .redis],
        examples: [
            .init(
                line: "respool pause --wait --timeout 600",
                meaning: "drains before maintenance; exits with 1 if jobs still run"
            )
        ]
    ) { arguments throws(CommandFailure) in
        let timeout = try arguments.seconds(PauseOptions.timeout, in: 0...86_400)
        guard timeout == nil || arguments.has(PauseOptions.wait) else {
            throw .usage("--timeout requires --wait: add it")
        }
        let connection = try QueueConnection(arguments)
        try await connection.ask { queue throws(QueueError) in try await queue.pause() }
        if arguments.has(PauseOptions.wait) {
            try await QueueDrain(connection: connection, timeout: timeout.map { .seconds($0) }).wait()
        }
        return .success
    }

    static let resume = Command("resume", "starts jobs again", options: [.queue, .redis]) {
        arguments throws(CommandFailure) in
        try await QueueConnection(arguments).ask { queue throws(QueueError) in try await queue.resume() }
        return .success
    }

    static let purge = Command(
        "purge", usages: ["--state STATE"], "deletes the jobs of a state and prints their number",
        details: ["Their output files remain. Running jobs cannot be deleted: cancel them."],
        options: [PurgeOptions.state, .queue, .redis]
    ) { arguments throws(CommandFailure) in
        let names = PurgeOptions.states.map(\.rawValue)
        guard let state = try arguments.word(PurgeOptions.state, of: names).flatMap(JobState.init) else {
            throw .usage("--state is missing: give \(names.joined(separator: ", "))")
        }
        let connection = try QueueConnection(arguments)
        var count = 0
        while true {
            let purged = try await connection.ask { queue throws(QueueError) in try await queue.purge(state) }
            count += purged
            if purged == 0 { break }
        }
        StandardStream.output("\(count)\n")
        return .success
    }
}

enum PauseOptions {
    static let wait = Option("wait", letter: "w", "waits until no job runs")
    static let timeout = Option(
        "timeout", value: "SECONDS", "with --wait: for at most this long", fallback: "no limit")
}

enum PurgeOptions {
    static let states = JobState.allCases.filter { $0 != .running }
    static let state = Option(
        "state", letter: "s", value: "STATE", "which: \(states.map(\.rawValue).joined(separator: ", "))",
        suggestion: .words(states.map(\.rawValue)))
}
