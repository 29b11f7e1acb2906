import Jobs

extension Command {
    static let pause = Command(
        "pause", "lets no more jobs start; running ones go on", options: [.queue, .redis]
    ) { arguments throws(CommandFailure) in
        try await QueueConnection(arguments).ask { queue throws(QueueError) in try await queue.pause() }
        return .success
    }

    static let resume = Command("resume", "lets jobs start again", options: [.queue, .redis]) {
        arguments throws(CommandFailure) in
        try await QueueConnection(arguments).ask { queue throws(QueueError) in try await queue.resume() }
        return .success
    }

    static let purge = Command(
        "purge", usages: ["--state STATE"], "deletes the jobs of a state, and prints how many",
        details: ["The files that they made stay."], options: [PurgeOptions.state, .queue, .redis]
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

enum PurgeOptions {
    static let states: [JobState] = [.completed, .failed, .cancelled]
    static let state = Option(
        "state", letter: "s", value: "STATE", "which: \(states.map(\.rawValue).joined(separator: ", "))",
        suggestion: .words(states.map(\.rawValue)))
}
