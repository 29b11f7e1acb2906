import Jobs
import SlotProtocol

extension Command {
    static let seal = Command(
        "seal", usages: ["GROUP"], "says that all jobs of a group are in",
        details: [
            "From then on no job can join it, and once none is left the group is over: `status --group GROUP --watch` ends."
        ],
        options: [.queue, .redis], operands: 1...1
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let group = arguments.operands[0]
        guard try await connection.seal(group) else { throw .noGroup(group) }
        return .success
    }
}

extension QueueConnection {
    /// Seals a group, and asks again if the answer is lost; answers whether there is such a group.
    func seal(_ group: String) async throws(CommandFailure) -> Bool {
        guard KeyName.isValid(group) else {
            throw .usage("'\(group)' is no group: a group's name is 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        return try await askPatiently { queue throws(QueueError) in try await queue.seal(group) }
    }
}
