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
        let stats = try await connection.ask { queue throws(QueueError) in
            try await queue.pause()
            return try await queue.stats()
        }
        if stats.workers == 0, stats.counts.values.allSatisfy({ $0 == 0 }) {
            StandardStream.error(
                "respool: the queue '\(connection.queue.name.text)' has no worker and no job: check its name with --queue; "
                    + "it is paused all the same\n")
        }
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
}

enum PauseOptions {
    static let wait = Option("wait", letter: "w", "waits until no job runs")
    static let timeout = Option(
        "timeout", value: "SECONDS", "with --wait: for at most this long", fallback: "no limit")
}
