import Jobs

extension Command {
    static let logs = Command(
        "logs", usages: ["ID…"],
        "prints the last log lines of the jobs: warnings, failed attempts, and messages of libav",
        options: [.json, .queue, .redis], operands: 1...Int.max
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        var status = ExitStatus.success
        for id in arguments.operands {
            guard try await connection.ask({ queue throws(QueueError) in try await queue.jobs([id]) })[0] != nil else {
                StandardStream.error("respool: there is no job '\(TextLayout.printable(id))'\n")
                status = .failure
                continue
            }
            let lines = try await connection.ask { queue throws(QueueError) in try await queue.log(id) }
            if lines.isEmpty && !arguments.has(.json) {
                StandardStream.error("respool: job '\(id)' has no log; see `respool status \(id)`\n")
            }
            let prefix = arguments.operands.count > 1 ? "\(id) " : ""
            let texts =
                arguments.has(.json)
                ? [JSONLine.text(JobLog(id: id, lines: lines))] : lines.map { prefix + TextLayout.printable($0) }
            StandardStream.output(texts.map { $0 + "\n" }.joined())
        }
        return status
    }
}

/// The JSON report of a job's log.
private struct JobLog: Encodable {
    let id: String
    let lines: [String]
}
