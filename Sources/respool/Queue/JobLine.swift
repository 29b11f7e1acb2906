import JobSchema
import Jobs
import Lifecycle
import MediaTypes

/// A job in one line.
struct JobLine {
    let record: JobRecord
    /// Whether the line begins with the job's id, as in a list of several jobs.
    let showsID: Bool

    init(_ record: JobRecord, showsID: Bool = false) {
        self.record = record
        self.showsID = showsID
    }

    /// The source and the target format.
    func label(_ terminal: Terminal) -> String {
        ProgressLine.label(source: record.source ?? record.id, target: record.format ?? "?", terminal)
    }

    /// The line for a terminal, at most as wide as its columns.
    func text(_ style: ProgressLineStyle) -> String {
        let terminal = style.terminal
        guard record.state != .running else { return progress(terminal).text(style) }
        let text = terminal.hasUnicode ? "\(mark) \(detail)" : detail
        return style.head(id: showsID ? record.id : nil, label: label(terminal))
            + terminal.colored(TextLayout.cut(text, width: style.room, mark: terminal.ellipsis), color)
    }

    /// The lines below it for the outputs of a running job with several outputs.
    func outputLines(_ style: ProgressLineStyle) -> [String] {
        record.state == .running ? progress(style.terminal).outputLines(record.format, style) : []
    }

    /// The line without a terminal.
    var plain: String {
        guard record.state != .running else { return "running \(figures(hasUnicode: false))" }
        return detail.hasPrefix(record.state.rawValue) ? detail : "\(record.state.rawValue) \(detail)"
    }

    /// The progress of a running job.
    func figures(hasUnicode: Bool) -> String {
        progress(.output).figures(hasUnicode: hasUnicode).trimmed
    }

    /// The details of a job that is not running.
    var detail: String {
        switch record.state {
        case .completed: completion
        case .failed: TextLayout.printable(record.error.map { "\($0.code.rawValue): \($0.message)" } ?? "failed")
        case .delayed: delay
        case .waiting where record.isParked: "waiting for a permit of its limit_key"
        default: record.state.rawValue
        }
    }

    var color: Terminal.Color? {
        switch record.state {
        case .completed: .green
        case .failed: .red
        case .cancelled, .delayed: .yellow
        case .running: .cyan
        case .queued, .waiting: .faint
        }
    }

    /// The line of a running job.
    func progress(_ terminal: Terminal) -> ProgressLine {
        let progress = record.phase.map {
            Progress(
                phase: $0, position: record.position ?? 0, duration: record.duration, fraction: record.progress,
                speed: record.speed, estimated: record.estimated, eta: record.eta,
                outputs: record.outputProgress ?? [])
        }
        return ProgressLine(id: showsID ? record.id : nil, label: label(terminal), progress: progress)
    }

    private var mark: String {
        switch record.state {
        case .completed: "✓"
        case .failed: "✗"
        case .cancelled: "–"
        default: "·"
        }
    }

    private var completion: String {
        var parts: [String] = []
        if let outputs = record.outputs, !outputs.isEmpty {
            if outputs.count > 1 { parts.append(Formatting.count(outputs.count, "output")) }
            let made = outputs.filter(\.isMade)
            parts.append(made.first.map { Formatting.length($0.duration) } ?? "skipped: already exists")
            if !made.isEmpty {
                parts.append(Formatting.bytes(made.reduce(0) { $0 + $1.bytes + ($1.parts?.bytes ?? 0) }))
            }
        }
        if let start = record.startedAt, let end = record.finishedAt {
            parts.append("in \(Formatting.span(Double(max(0, end - start)) / 1000))")
        }
        return parts.isEmpty ? "completed" : parts.joined(separator: "  ")
    }

    private var delay: String {
        let wait = record.dueAt.map { Double(max(0, $0 - WallClock.milliseconds())) / 1000 }
        let due = wait.map { " for \(Formatting.span($0))" } ?? ""
        let cause = record.error.map { " after attempt \(record.attempt) of \(record.attempts): \($0.message)" } ?? ""
        return TextLayout.printable("delayed\(due)\(cause)")
    }
}

extension String {
    /// The text without the leading spaces of its alignment.
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
