import MediaTypes
import SlotProtocol

/// A conversion under way, in one line.
struct ProgressLine: Sendable {
    /// What is converted, and into what.
    let label: String
    /// Nothing before the first sign of life.
    let progress: Progress?

    /// How the lines of several conversions share a terminal's columns.
    struct Style: Sendable {
        let terminal: Terminal
        let columns: Int
        let labelWidth: Int

        init(terminal: Terminal, labels: [String]) {
            self.terminal = terminal
            columns = terminal.size.columns
            let widest = labels.map { TextLayout.columns($0) }.max() ?? 0
            labelWidth = min(max(widest, 8), max(8, columns * 2 / 5))
        }

        /// The label in its columns.
        func label(_ text: String) -> String {
            TextLayout.fitted(text, width: labelWidth, mark: terminal.ellipsis) + "  "
        }

        /// Columns beside the label.
        var room: Int { max(0, columns - labelWidth - 2) }

        /// What is left for the bar beside the label and ` 42 %  1:02:06 / 5:00:00  61×  0:03 left`.
        var barWidth: Int { min(30, max(4, room - 43)) }
    }

    /// `talk.flac → mp3`, or as much of it as ASCII can say.
    static func label(source: String, target: String, _ terminal: Terminal) -> String {
        TextLayout.printable("\(SourceAddress.name(source)) \(terminal.hasUnicode ? "→" : ">") \(target)")
    }

    /// Label, bar and figures, no longer than the terminal's columns.
    func text(_ style: Style) -> String {
        let terminal = style.terminal
        let bar = ProgressBar(width: style.barWidth, hasUnicode: terminal.hasUnicode).text(progress?.fraction)
        let figures = TextLayout.cut(
            figures(hasUnicode: terminal.hasUnicode), width: style.room - style.barWidth - 2, mark: terminal.ellipsis)
        return style.label(label) + terminal.colored(bar, .cyan) + "  " + figures
    }

    /// A line below this one for each output, where there are several, whose formats are those of the label: `mp3+flac`.
    func outputLines(_ formats: String?, _ style: Style) -> [String] {
        let names = (formats ?? "").split(separator: "+").map(String.init)
        return (progress?.outputs ?? []).enumerated().map { index, output in
            let terminal = style.terminal
            let name = "  \(index) \(index < names.count ? TextLayout.printable(names[index]) : "")"
            let bar = ProgressBar(width: style.barWidth, hasUnicode: terminal.hasUnicode).text(output.fraction)
            return style.label(name) + terminal.colored(bar, output.phase == .failed ? .red : .cyan) + "  "
                + TextLayout.cut(output.figures, width: style.room - style.barWidth - 2, mark: terminal.ellipsis)
        }
    }

    /// The phase, or percent, position, speed and time left.
    func figures(hasUnicode: Bool) -> String {
        guard let progress, progress.phase == .converting, let fraction = progress.fraction else {
            return progress?.phase.rawValue ?? "starting"
        }
        let length = progress.duration.map { " / \(Quantities.clock($0))" } ?? ""
        var parts = [
            TextLayout.fitted((progress.estimated ? "~" : "") + Quantities.percent(fraction), width: 5, isRight: true),
            Quantities.clock(progress.position) + length,
        ]
        if let speed = progress.speed, speed > 0 {
            parts.append(Quantities.speed(speed, hasUnicode: hasUnicode))
        }
        if let eta = progress.eta, eta > 0 { parts.append("\(Quantities.clock(eta.rounded(.up))) left") }
        return parts.joined(separator: "  ")
    }
}

extension OutputProgress {
    /// Percent while it is converted, or what else is done with it.
    var figures: String {
        let percent = TextLayout.fitted(Quantities.percent(fraction), width: 5, isRight: true)
        return phase == .converting ? percent : percent + "  \(phase.rawValue)"
    }
}
