import JobSchema
import Jobs

/// Displays followed jobs: progress bars on a terminal; otherwise lines.
struct JobView {
    private let terminal: Terminal
    private let form: JobFollower.Form
    private var area: LiveArea

    init(terminal: Terminal, form: JobFollower.Form) {
        self.terminal = terminal
        self.form = form
        area = LiveArea(terminal)
    }

    mutating func show(_ board: JobBoard, _ changes: [JobBoard.Change]) {
        for change in changes { report(change) }
        guard terminal.isInteractive, form != .jsonChanges else { return }
        area.draw(bars(board))
    }

    /// Keeps the bars in place, so that other output appears below them.
    mutating func release() { area.release() }

    /// Prints a summary in one line, if bars were drawn for more than one job.
    func end(_ board: JobBoard) {
        guard terminal.isInteractive, form != .jsonChanges, board.ids.count > 1 else { return }
        let counts = Dictionary(grouping: board.records.values, by: \.state).mapValues(\.count)
        let parts = JobState.allCases.compactMap { state in
            counts[state].map { "\(Formatting.count($0)) \(state.rawValue)" }
        }
        let missing = board.missing.isEmpty ? [] : ["\(Formatting.count(board.missing.count)) unknown"]
        terminal.write((parts + missing).joined(separator: ", ") + "\n")
    }

    private func report(_ change: JobBoard.Change) {
        switch form {
        case .json:
            if let record = change.record, record.state.isTerminal {
                StandardStream.output(JSONLine.text(record) + "\n")
            }
        case .jsonChanges:
            if let record = change.record { StandardStream.output(JSONLine.text(record) + "\n") }
        case .changes:
            if !terminal.isInteractive { terminal.write(line(change) + "\n") }
        case .summary:
            let isBad = change.record.map { $0.state.isTerminal && $0.state != .completed } ?? true
            if isBad, !terminal.isInteractive { terminal.write(line(change) + "\n") }
        }
        if change.record == nil, form != .changes || terminal.isInteractive {
            StandardStream.error("respool: there is no job '\(TextLayout.printable(change.id))'\n")
        }
    }

    private func line(_ change: JobBoard.Change) -> String {
        change.record.map { Self.line(change.id, $0, terminal) } ?? "\(change.id) unknown"
    }

    /// A job in one line without a terminal.
    static func line(_ id: String, _ record: JobRecord, _ terminal: Terminal) -> String {
        let line = JobLine(record)
        return "\(id) \(line.plain) (\(line.label(terminal)))"
    }

    /// One line per job. If there are more jobs than rows, running ones come first and the rest is only counted.
    private func bars(_ board: JobBoard) -> [String] {
        let size = terminal.size
        let records = board.ids.compactMap { board.records[$0] }
        let room = max(1, size.rows - 2)
        let shown = records.count < room ? records : Array(ordered(records).prefix(max(1, room - 1)))
        let isSeveral = board.ids.count > 1
        let jobs = shown.map { JobLine($0, showsID: isSeveral) }
        let style = ProgressLineStyle(
            terminal: terminal, lines: jobs.map { $0.progress(terminal) }, labels: isSeveral ? [total(records)] : [])
        var lines = jobs.map { $0.text(style) }
        if isSeveral { lines.append(totalLine(records, style)) } else { lines += jobs.first?.outputLines(style) ?? [] }
        return lines
    }

    private func total(_ records: [JobRecord]) -> String { Formatting.count(records.count, "job") }

    /// The total of all jobs: their overall progress, and the numbers of ended, running and remaining ones.
    private func totalLine(_ records: [JobRecord], _ style: ProgressLineStyle) -> String {
        let over = records.count { $0.state.isTerminal }
        let running = records.filter { $0.state == .running }
        let share = running.reduce(Double(over)) { $0 + min(max($1.progress ?? 0, 0), 1) }
        let fraction = records.isEmpty ? 0 : share / Double(records.count)
        let bar = ProgressBar(width: style.barWidth, hasUnicode: terminal.hasUnicode).text(fraction)
        let percent = TextLayout.fitted(Formatting.percent(fraction), width: 5, isRight: true)
        let counts = [(over, "over"), (running.count, "running"), (records.count - over - running.count, "left")]
        let words = counts.filter { $0.0 > 0 }.map { "\(Formatting.count($0.0)) \($0.1)" }.joined(separator: ", ")
        let figures = TextLayout.cut(
            "\(percent)  \(words)", width: style.room - style.barWidth - 2, mark: terminal.ellipsis)
        return style.head(id: "total", label: total(records)) + terminal.colored(bar, .cyan) + "  " + figures
    }

    private func ordered(_ records: [JobRecord]) -> [JobRecord] {
        let ranks: [JobState: Int] = [.running: 0, .failed: 1, .delayed: 2, .waiting: 3, .queued: 3]
        return records.enumerated().sorted {
            (ranks[$0.element.state] ?? 4, $0.offset) < (ranks[$1.element.state] ?? 4, $1.offset)
        }.map(\.element)
    }
}
