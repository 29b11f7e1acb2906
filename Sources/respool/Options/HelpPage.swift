import Configuration

/// The text printed by `--help`.
struct HelpPage {
    /// Columns to wrap at.
    var width = 80

    /// The text of `respool --help`.
    func overview() -> String {
        var lines = ["Usage: respool COMMAND [OPTION]… [OPERAND]…", ""]
        lines += TextLayout.wrapped(
            "Converts audio as a service: jobs go through Redis to any number of workers.", width: width)
        lines += ["", "Commands:"]
        lines += entries(Command.all.map { ($0.name, $0.summary) })
        lines += ["", "Options:"]
        lines += entries(CommandLineTool.options.map { (heading($0), $0.summary) })
        lines += ["", "Environment:"]
        lines += settings(Settings.all.filter { [.queue, .replicas].contains($0.reader) })
        lines += ["", "`respool settings` lists all variables."]
        lines += ["", "Exit status:"]
        lines += entries([
            ("0", "success"), ("1", "a job failed, or an id is unknown"), ("2", "wrong usage"),
            ("3", "Redis is unreachable"),
        ])
        lines += ["", "See `respool COMMAND --help` for one command."]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The text of `respool COMMAND --help`.
    func page(of command: Command) -> String {
        var lines: [String] = []
        for (index, usage) in command.usages.enumerated() {
            let line = "\(index == 0 ? "Usage:" : "      ") respool \(command.name) [OPTION]… \(usage)"
            lines.append(String(line.reversed().drop { $0 == " " }.reversed()))
        }
        for paragraph in [command.summary.sentence] + command.details {
            lines += [""] + TextLayout.wrapped(paragraph, width: width)
        }
        lines += ["", "Options:"] + entries(command.options.map { (heading($0), explanation($0)) })
        if !command.settings.isEmpty { lines += ["", "Environment:"] + settings(command.settings) }
        if !command.examples.isEmpty { lines += ["", "Examples:"] }
        for example in command.examples {
            lines += ["  " + example.line] + TextLayout.wrapped(example.meaning, width: width - 6).map { "      " + $0 }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Each variable with its meaning, form and default.
    func settings(_ settings: [any SettingDeclaration]) -> [String] {
        entries(settings.map { ($0.name, Self.explanation($0)) })
    }

    static func explanation(_ setting: any SettingDeclaration) -> String {
        "\(setting.meaning): \(setting.expected) (default: \(setting.fallback.text))"
    }

    /// `-s, --slots N`, followed by the aliases.
    func heading(_ option: Option) -> String {
        let value = option.placeholder.map { " \($0)" } ?? ""
        let letter = option.letter.map { "-\($0), " } ?? ""
        return letter + ([option.name] + option.aliases).map { "--\($0)\(value)" }.joined(separator: ", ")
    }

    func explanation(_ option: Option) -> String {
        var notes: [String] = []
        if let fallback = option.fallback { notes.append("default: \(fallback)") }
        if let setting = option.setting { notes.append(setting.name) }
        let repeated = option.isRepeatable ? ", may be repeated" : ""
        return option.summary + repeated + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
    }

    private func entries(_ pairs: [(String, String)]) -> [String] {
        let column = min(28, (pairs.map { $0.0.count }.max() ?? 0) + 4)
        return pairs.flatMap { heading, text in
            let body = TextLayout.wrapped(text, width: width - column)
            let indent = String(repeating: " ", count: column)
            guard heading.count + 4 <= column else { return ["  " + heading] + body.map { indent + $0 } }
            let first = "  " + heading + String(repeating: " ", count: column - heading.count - 2)
            return [first + (body.first ?? "")] + body.dropFirst().map { indent + $0 }
        }
    }
}

extension String {
    /// The text as a sentence: with a capital first letter and a full stop.
    var sentence: String { prefix(1).uppercased() + dropFirst() + (hasSuffix(".") ? "" : ".") }
}
