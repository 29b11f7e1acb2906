import Jobs
import SlotProtocol

extension Command {
    static let seal = Command(
        "seal", usages: ["GROUP"], "says that all jobs of a group are in",
        details: [
            "From then on no job can join it, and once none is left the group is over: `status --group GROUP --watch` ends, and "
                + "the callback gets a signed POST."
        ],
        options: [SealOptions.callback, .queue, .redis], operands: 1...1
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let (group, url) = (arguments.operands[0], arguments.value(SealOptions.callback))
        if let url, !CallbackURL.isValid(url) {
            throw .usage("--callback is '\(redactedURL(url))': \(CallbackURL.rule)")
        }
        switch try await connection.seal(group, callback: url) {
        case .sealed: return .success
        case .unknown: throw .noGroup(group)
        case .callbackTaken:
            throw .failed("the group '\(group)' is over, or has another callback: it was left as it is")
        }
    }
}

enum SealOptions {
    static let callback = Option("callback", value: "URL", "gets a signed POST when none of its jobs is left")
}

extension QueueConnection {
    /// Seals a group, and asks again if the answer is lost.
    func seal(_ group: String, callback: String? = nil) async throws(CommandFailure) -> SealAnswer {
        guard KeyName.isValid(group) else {
            throw .usage("'\(group)' is no group: a group's name is 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        return try await askPatiently { queue throws(QueueError) in try await queue.seal(group, callback: callback) }
    }
}
