import JobSchema
import MediaTypes

/// The progress of a conversion in one line.
struct ProgressLine: Sendable {
    /// The job's id, if there are several lines.
    var id: String?
    /// The source and the target format.
    let label: String
    /// `nil` before the first progress report.
    let progress: Progress?

    /// `talk.flac → mp3`, with `>` as the arrow if the terminal has no Unicode.
    static func label(source: String, target: String, _ terminal: Terminal) -> String {
        TextLayout.printable("\(SourceAddress.name(source)) \(terminal.hasUnicode ? "→" : ">") \(target)")
    }

    /// Label, bar and figures, at most as wide as the terminal.
    func text(_ style: ProgressLineStyle) -> String {
        let terminal = style.terminal
        let bar = ProgressBar(width: style.barWidth, hasUnicode: terminal.hasUnicode).text(progress?.fraction)
        let figures = TextLayout.cut(
            figures(in: style), width: style.room - style.barWidth - 2, mark: terminal.ellipsis)
        return style.head(id: id, label: label) + terminal.colored(bar, .cyan) + "  " + figures
    }

    /// If there are several outputs, a line below this one for each. Their formats come from the label: `mp3+flac`.
    func outputLines(_ formats: String?, _ style: ProgressLineStyle) -> [String] {
        let names = (formats ?? "").split(separator: "+").map(String.init)
        return (progress?.outputs ?? []).enumerated().map { index, output in
            let terminal = style.terminal
            let name = "  \(index) \(index < names.count ? TextLayout.printable(names[index]) : "")"
            let bar = ProgressBar(width: style.barWidth, hasUnicode: terminal.hasUnicode).text(output.fraction)
            return style.head(id: nil, label: name) + terminal.colored(bar, output.phase == .failed ? .red : .cyan)
                + "  "
                + TextLayout.cut(output.figures, width: style.room - style.barWidth - 2, mark: terminal.ellipsis)
        }
    }

    /// The phase; while converting: percentage, position, speed and remaining time.
    func figures(hasUnicode: Bool) -> String {
        guard let parts = parts(hasUnicode: hasUnicode) else { return phase }
        let rest = [parts.position, parts.speed, parts.left].filter { !$0.isEmpty }
        return ([parts.percent] + rest).joined(separator: "  ")
    }

    /// The figures in columns that all lines of the style share, without the position if there is no room for it.
    private func figures(in style: ProgressLineStyle) -> String {
        guard let parts = parts(hasUnicode: style.terminal.hasUnicode) else { return phase }
        let columns = [
            (parts.position, style.positionWidth), (parts.speed, ProgressLineStyle.speedWidth),
            (parts.left, ProgressLineStyle.leftWidth),
        ]
        let shown = columns.filter { $0.1 > 0 }.map { TextLayout.fitted($0.0, width: $0.1, isRight: true) }
        return ([parts.percent] + shown).joined(separator: "  ")
    }

    private var phase: String { progress?.phase.rawValue ?? "starting" }

    /// The position and the total length, while converting.
    var position: String {
        guard let progress, progress.phase == .converting else { return "" }
        return Formatting.clock(progress.position) + (progress.duration.map { " / \(Formatting.clock($0))" } ?? "")
    }

    private func parts(hasUnicode: Bool) -> (percent: String, position: String, speed: String, left: String)? {
        guard let progress, progress.phase == .converting, let fraction = progress.fraction else { return nil }
        let percent = (progress.estimated ? "~" : "") + Formatting.percent(fraction)
        let speed = progress.speed.flatMap { $0 > 0 ? Formatting.speed($0, hasUnicode: hasUnicode) : nil }
        let left = progress.eta.flatMap { $0 > 0 ? "\(Formatting.clock($0.rounded(.up))) left" : nil }
        return (TextLayout.fitted(percent, width: 5, isRight: true), position, speed ?? "", left ?? "")
    }
}

extension OutputProgress {
    /// The percentage, followed by the phase unless the output is being converted.
    var figures: String {
        let percent = TextLayout.fitted(Formatting.percent(fraction), width: 5, isRight: true)
        return phase == .converting ? percent : percent + "  \(phase.rawValue)"
    }
}
