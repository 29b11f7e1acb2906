import Jobs
import SlotProtocol

/// Shows jobs that are being followed: bars on a terminal, lines elsewhere.
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

    /// Lets others write below the bars.
    mutating func leave() { area.leave() }

    /// Says in one line how it ended, where bars were drawn for more than one job.
    func end(_ board: JobBoard) {
        guard terminal.isInteractive, form != .jsonChanges, board.ids.count > 1 else { return }
        let counts = Dictionary(grouping: board.records.values, by: \.state).mapValues(\.count)
        let parts = JobState.allCases.compactMap { state in
            counts[state].map { "\(Quantities.count($0)) \(state.rawValue)" }
        }
        let missing = board.missing.isEmpty ? [] : ["\(Quantities.count(board.missing.count)) unknown"]
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

    /// A line a job; where there are more than rows, those that run go first and the rest is counted.
    private func bars(_ board: JobBoard) -> [String] {
        let size = terminal.size
        let records = board.ids.compactMap { board.records[$0] }
        let room = max(1, size.rows - 2)
        let shown = records.count <= room ? records : Array(ordered(records).prefix(room - 1))
        let style = ProgressLine.Style(terminal: terminal, labels: shown.map { JobLine($0).label(terminal) })
        var lines = shown.map { JobLine($0).text(style) }
        if board.ids.count == 1, let record = shown.first { lines += JobLine(record).outputLines(style) }
        if shown.count < records.count {
            let done = records.count { $0.state.isTerminal }
            lines.append(
                terminal.colored(
                    "… \(Quantities.count(records.count, "job")), \(Quantities.count(done)) of them over", .faint))
        }
        return lines
    }

    private func ordered(_ records: [JobRecord]) -> [JobRecord] {
        let ranks: [JobState: Int] = [.running: 0, .failed: 1, .delayed: 2, .waiting: 3, .queued: 3]
        return records.enumerated().sorted {
            (ranks[$0.element.state] ?? 4, $0.offset) < (ranks[$1.element.state] ?? 4, $1.offset)
        }.map(\.element)
    }
}
