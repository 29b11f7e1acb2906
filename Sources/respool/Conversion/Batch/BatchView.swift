import JobSchema
import Lifecycle
import MediaTypes
import Synchronization

/// Shows a batch: a bar for each conversion and a total on a terminal, failures at once, and a summary at the end.
final class BatchView: Sendable {
    private let total: Int
    private let isJSON: Bool
    private let terminal = Terminal.error
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    private struct State {
        var area: LiveArea
        var last: ContinuousClock.Instant?
        /// The running conversions by slot.
        var lines: [Int: ProgressLine] = [:]
        var counts: [BatchReport.State: Int] = [:]
        /// The failures by code.
        var failures: [String: Int] = [:]

        var ended: Int { counts.values.reduce(0, +) }
    }

    init(total: Int, isJSON: Bool) {
        self.total = total
        self.isJSON = isJSON
        state = Mutex(State(area: LiveArea(.error)))
    }

    func show(_ progress: Progress, of item: BatchItem, slot: Int) {
        guard terminal.isInteractive else { return }
        state.withLock { state in
            let label = ProgressLine.label(
                source: item.source, target: item.spec.plan.renditions[0].format, terminal)
            state.lines[slot] = ProgressLine(label: label, progress: progress)
            draw(&state, isForced: false)
        }
    }

    /// Takes in the end of a conversion, `nil` if it was interrupted; of no slot if it was not attempted.
    func ended(_ report: BatchReport?, of slot: Int?) {
        state.withLock { state in
            if let slot { state.lines[slot] = nil }
            guard let report else { return }
            state.counts[report.state, default: 0] += 1
            if isJSON {
                if terminal.isInteractive { state.area.clear() }
                StandardStream.output(JSONLine.text(report) + "\n")
            }
            if report.state == .failed, let error = report.error {
                state.failures[error.code.rawValue, default: 0] += 1
                if terminal.isInteractive { state.area.clear() }
                StandardStream.error("respool: \(TextLayout.printable("\(report.source): \(error.message)"))\n")
            }
            for warning in report.state == .completed ? report.outputs.flatMap(\.warnings) : [] {
                if terminal.isInteractive { state.area.clear() }
                let text = TextLayout.printable("\(report.source): \(warning.message)")
                StandardStream.error("respool: warning: \(text)\n")
            }
            if terminal.isInteractive { draw(&state, isForced: report.state == .failed) }
        }
    }

    /// Removes the bars.
    func clear() {
        guard terminal.isInteractive else { return }
        state.withLock { $0.area.clear() }
    }

    /// Prints the summary on a terminal, or if there were failures; returns the exit status.
    func end() -> ExitStatus {
        let (counts, failures) = state.withLock { ($0.counts, $0.failures) }
        let failed = counts[.failed] ?? 0
        guard terminal.isInteractive || failed > 0 else { return .success }
        let parts = BatchReport.State.allCases.compactMap { state in
            counts[state].map { "\(Formatting.count($0)) \(state.rawValue)" }
        }
        let codes = failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) \(Formatting.count($0.value))" }.joined(separator: ", ")
        let text = "\(Formatting.count(total, "file")): \(parts.joined(separator: ", "))"
        StandardStream.error("respool: \(text)\(failed > 0 ? " (\(codes))" : "")\n")
        return failed > 0 ? .failure : .success
    }

    private func draw(_ state: inout State, isForced: Bool) {
        let now = ContinuousClock.now
        if !isForced, let last = state.last, now - last < .milliseconds(80) { return }
        state.last = now
        let rows = max(1, terminal.size.rows - 2)
        let lines = state.lines.sorted { $0.key < $1.key }.prefix(rows).map(\.value)
        let label = Formatting.count(total, "file")
        let style = ProgressLineStyle(terminal: terminal, lines: lines, labels: [label])
        state.area.draw(lines.map { $0.text(style) } + [totalLine(state, label, style)])
    }

    private func totalLine(_ state: State, _ label: String, _ style: ProgressLineStyle) -> String {
        let running = state.lines.values.compactMap(\.progress)
        let share = running.reduce(Double(state.ended)) { $0 + min(max($1.fraction ?? 0, 0), 1) }
        let fraction = share / Double(max(total, 1))
        let bar = ProgressBar(width: style.barWidth, hasUnicode: terminal.hasUnicode).text(fraction)
        var parts = [
            TextLayout.fitted(Formatting.percent(fraction), width: ProgressLineStyle.percentWidth, isRight: true),
            "\(Formatting.count(state.ended)) over",
        ]
        if let failed = state.counts[.failed] { parts.append("\(Formatting.count(failed)) failed") }
        let speed = running.compactMap(\.speed).reduce(0, +)
        if speed > 0 { parts.append(Formatting.speed(speed, hasUnicode: terminal.hasUnicode)) }
        if fraction > 0.01, fraction < 1 {
            let left = start.duration(to: .now).seconds * (1 - fraction) / fraction
            parts.append("\(Formatting.clock(left.rounded(.up))) left")
        }
        let figures = TextLayout.cut(
            parts.joined(separator: "  "), width: style.room - style.barWidth - 2, mark: terminal.ellipsis)
        return style.head(id: nil, label: label) + terminal.colored(bar, .cyan) + "  " + figures
    }
}
