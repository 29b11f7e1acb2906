import JobSchema
import Jobs

extension Command {
    static let seal = Command(
        "seal", usages: ["GROUP"], "seals a group: no more jobs can join it",
        details: [
            "No job can join a sealed group. It finishes with its last job: `status "
                + "--group GROUP --watch` ends, and the callback gets a signed POST."
        ],
        options: [SealOptions.callback, .queue, .redis], operands: 1...1
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let group = arguments.operands[0]
        guard try await connection.seal(group, callback: try arguments.callback(SealOptions.callback), isPatient: false)
        else {
            throw .noGroup(group)
        }
        return .success
    }
}

enum SealOptions {
    static let callback = Option("callback", value: "URL", "gets a signed POST when all its jobs have finished")
}

extension Arguments {
    /// The validated callback URL of an option.
    func callback(_ option: Option) throws(CommandFailure) -> String? {
        guard let url = value(option), !CallbackURL.isValid(url) else { return value(option) }
        throw .usage("--\(option.name) is '\(redactedURL(url))': \(CallbackURL.rule)")
    }
}

extension QueueConnection {
    /// Seals a group, and repeats the request if the reply is lost; returns whether the group exists. `isPatient` retries for
    /// up to a minute, for a caller that has just enqueued the jobs.
    func seal(_ group: String, callback: String?, isPatient: Bool) async throws(CommandFailure) -> Bool {
        guard KeyName.isValid(group) else {
            throw .usage("'\(group)' is not a group name: give 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        let seal = { @Sendable (queue: JobQueue) async throws(QueueError) in
            try await queue.seal(group, callback: callback)
        }
        switch isPatient ? try await askWithRetry(seal) : try await askTwice(seal) {
        case .sealed: return true
        case .unknown: return false
        case .callbackTaken:
            throw .failed("the group '\(group)' has finished or has another callback: it is unchanged")
        }
    }
}
