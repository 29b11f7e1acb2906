import Jobs

/// Shows the state of a group, once or until it has ended.
struct GroupView {
    let connection: QueueConnection
    let name: String
    let isJSON: Bool

    /// Returns a failure if the group has ended and a job of it was not completed.
    func show(isWatching: Bool) async throws(CommandFailure) -> ExitStatus {
        var record = try found(await connection.ask(look))
        guard isWatching else {
            StandardStream.output(text(record, GroupSpeed(record)))
            return .success
        }
        let terminal = Terminal.output
        var (area, speed, last) = (LiveArea(terminal), GroupSpeed(record), "")
        while true {
            let text = text(record, speed)
            if terminal.isInteractive, !isJSON {
                area.draw(lines(record, speed))
            } else if summary(record) != last {
                StandardStream.output(text)
                last = summary(record)
            }
            if record.isFinished { break }
            try? await Task.sleep(for: terminal.isInteractive ? .milliseconds(250) : .seconds(1))
            record = try found(await connection.askWithRetry(makeRoom: { area.release() }, look))
            speed.add(record)
        }
        return record[.failed] + record[.cancelled] == 0 ? .success : .failure
    }

    private func look(_ queue: JobQueue) async throws(QueueError) -> GroupRecord? { try await queue.group(name) }

    private func found(_ record: GroupRecord?) throws(CommandFailure) -> GroupRecord {
        guard let record else { throw .noGroup(name) }
        return record
    }

    private func text(_ record: GroupRecord, _ speed: GroupSpeed) -> String {
        isJSON
            ? JSONLine.text(GroupReport(record, speed)) + "\n" : lines(record, speed).map { $0 + "\n" }.joined()
    }

    /// Values whose change causes another line if the output is not a terminal.
    private func summary(_ record: GroupRecord) -> String {
        "\(record.isSealed) \(record.total) \(record.counts[.running] ?? 0) \(record.ran) \(record.left)"
    }

    private func lines(_ record: GroupRecord, _ speed: GroupSpeed) -> [String] {
        let terminal = Terminal.output
        let over = record.total - record.left
        let fraction = record.total > 0 ? Double(over) / Double(record.total) : 1
        let bar = ProgressBar(width: 30, hasUnicode: terminal.hasUnicode).text(fraction)
        var counts = ["\(Formatting.count(record[.completed])) done"]
        let failed = "\(Formatting.count(record[.failed])) failed"
        counts.append(record[.failed] > 0 ? terminal.colored(failed, .red) : failed)
        if record[.cancelled] > 0 { counts.append("\(Formatting.count(record[.cancelled])) cancelled") }
        counts.append("\(Formatting.count(record.left)) left\(detail(record))")
        var lines = [
            "group \(terminal.colored(record.name, .bold)), \(Formatting.count(record.total, "job"))\(state(record))",
            (terminal.isInteractive ? "\(bar)  " : "") + "\(Formatting.percent(fraction))  "
                + counts.joined(separator: "  "),
        ]
        if speed.jobs > 0 { lines.append(figures(record, speed, terminal)) }
        return lines
    }

    private func state(_ record: GroupRecord) -> String {
        if record.isFinished { return ": over" }
        if record.isSealed { return ", sealed" }
        return record.left == 0 ? ": nothing is left; seal the group with `respool seal \(record.name)`" : ""
    }

    private func detail(_ record: GroupRecord) -> String {
        let parts = [JobState.running, .waiting, .delayed].filter { record[$0] > 0 }
            .map { "\(Formatting.count(record[$0])) \($0.rawValue)" }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private func figures(_ record: GroupRecord, _ speed: GroupSpeed, _ terminal: Terminal) -> String {
        var parts = ["\(Formatting.decimal(speed.jobs, places: 2)) jobs/s"]
        if speed.audio > 0 { parts.append(Formatting.speed(speed.audio, hasUnicode: terminal.hasUnicode)) }
        if let left = speed.timeLeft(record) { parts.append("\(Formatting.span(left)) left") }
        return parts.joined(separator: "  ")
    }
}
