import Jobs

extension Command {
    static let pause = Command(
        "pause", "lets no more jobs start; running ones go on",
        details: [
            "With --wait, drains the queue: returns once nothing runs. It stays paused, also after Ctrl-C, until `respool resume`."
        ],
        options: [PauseOptions.wait, PauseOptions.timeout, .queue, .redis],
        examples: [
            .init(
                line: "respool pause --wait --timeout 600", meaning: "before maintenance; ends with 1 if jobs still run"
            )
        ]
    ) { arguments throws(CommandFailure) in
        let timeout = try arguments.seconds(PauseOptions.timeout, in: 0...86_400)
        guard timeout == nil || arguments.has(PauseOptions.wait) else {
            throw .usage("--timeout says how long to wait: add --wait")
        }
        let connection = try QueueConnection(arguments)
        try await connection.ask { queue throws(QueueError) in try await queue.pause() }
        if arguments.has(PauseOptions.wait) {
            try await QueueDrain(connection: connection, timeout: timeout.map { .seconds($0) }).wait()
        }
        return .success
    }

    static let resume = Command("resume", "lets jobs start again", options: [.queue, .redis]) {
        arguments throws(CommandFailure) in
        try await QueueConnection(arguments).ask { queue throws(QueueError) in try await queue.resume() }
        return .success
    }

    static let purge = Command(
        "purge", usages: ["--state STATE"], "deletes the jobs of a state, and prints how many",
        details: ["The files that they made stay. Running jobs cannot be deleted: cancel them."],
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
    static let wait = Option("wait", letter: "w", "waits until nothing runs any more")
    static let timeout = Option(
        "timeout", value: "SECONDS", "with --wait: for so long", fallback: "for ever")
}

enum PurgeOptions {
    static let states = JobState.allCases.filter { $0 != .running }
    static let state = Option(
        "state", letter: "s", value: "STATE", "which: \(states.map(\.rawValue).joined(separator: ", "))",
        suggestion: .words(states.map(\.rawValue)))
}
