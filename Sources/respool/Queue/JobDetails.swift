import JobSchema
import Jobs
import Lifecycle
import MediaTypes

/// Prints the full records of jobs.
struct JobDetails {
    let connection: QueueConnection

    /// Returns a failure if an id is unknown.
    func show(_ ids: [String], isJSON: Bool) async throws(CommandFailure) -> ExitStatus {
        var (status, isFirst) = (ExitStatus.success, true)
        for part in ids.parts(of: 500) {
            let records = try await connection.ask { queue throws(QueueError) in try await queue.jobs(Array(part)) }
            for (id, record) in zip(part, records) {
                guard let record else {
                    StandardStream.error("respool: there is no job '\(TextLayout.printable(id))'\n")
                    status = .failure
                    continue
                }
                let text =
                    isJSON ? JSONLine.text(record) : (isFirst ? "" : "\n") + Self.lines(record).joined(separator: "\n")
                StandardStream.output(text + "\n")
                isFirst = false
            }
        }
        return status
    }

    private static func lines(_ record: JobRecord) -> [String] {
        let terminal = Terminal.output
        let pairs = overview(record) + (record.outputs ?? []).flatMap(output) + times(record)
        return [terminal.colored(record.id, .bold)]
            + pairs.map { name, value in
                "  " + terminal.colored(TextLayout.fitted(name, width: 10), .faint) + " " + TextLayout.printable(value)
            }
    }

    private static func overview(_ record: JobRecord) -> [(String, String)] {
        let attempts = "attempt \(record.attempt) of \(record.attempts)"
        let crashes = record.crashes > 0 ? ", crashes: \(record.crashes)" : ""
        // The error is printed on a separate line.
        let state = record.error == nil ? JobLine(record).plain : record.state.rawValue
        var pairs = [("state", "\(state) (\(attempts)\(crashes), priority \(record.priority))")]
        if let source = record.source { pairs.append(("source", source)) }
        if let format = record.format { pairs.append(("format", format)) }
        for (index, output) in (record.outputProgress ?? []).enumerated() {
            pairs.append(("output \(index)", "\(output.phase.rawValue), \(Formatting.percent(output.fraction))"))
        }
        if let worker = record.worker { pairs.append(("worker", worker)) }
        if let error = record.error {
            let next = error.retryable ? "retryable" : "permanent"
            pairs.append(("error", "\(error.code.rawValue): \(error.message) (\(next))"))
            pairs += error.otherFaults.map { ("", $0) }
        }
        return pairs
    }

    private static func output(_ output: OutputReport) -> [(String, String)] {
        if let error = output.error {
            return [
                ("output", output.url), ("", "\(output.format), failed as \(error.code.rawValue): \(error.message)"),
            ]
        }
        guard output.isMade else { return [("output", output.url)] + output.warnings.map { ("warning", $0.message) } }
        let facts = [
            output.codec, Formatting.length(output.duration), "\(output.sampleRate) Hz", "\(output.channels) ch",
            "\(output.bitRate / 1000) kb/s", Formatting.bytes(output.bytes),
        ]
        return [("output", output.url), ("", facts.joined(separator: ", ")), ("sha256", output.sha256)]
            + (output.parts.map { [("files", "\($0.count + 1), \(Formatting.bytes($0.bytes + output.bytes))")] } ?? [])
            + output.warnings.map { ("warning", $0.message) }
    }

    private static func times(_ record: JobRecord) -> [(String, String)] {
        [("created", record.createdAt), ("started", record.startedAt), ("finished", record.finishedAt)]
            .compactMap { name, time in time.map { (name, WallClock.timestamp(milliseconds: $0)) } }
    }
}
