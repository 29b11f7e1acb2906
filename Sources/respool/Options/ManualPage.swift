import Configuration
import Lifecycle

/// The manual page `respool(1)`, generated from the options of the commands.
struct ManualPage {
    func text() -> String {
        var lines = [
            ".TH RESPOOL 1 \"\" \"respool \(respoolVersion)\" \"User Commands\"",
            ".SH NAME", "respool \\- audio conversion as a service", ".SH SYNOPSIS",
            ".B respool", "\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...", ".SH DESCRIPTION",
            "Converts audio as a service: jobs go through Redis to any number of workers.", ".SH COMMANDS",
        ]
        for command in Command.all { lines += section(command) }
        lines += [".SH ENVIRONMENT", "An option on the command line overrides its variable."]
        for setting in Settings.all {
            lines += [".TP", ".B \(setting.name)", escaped(HelpPage.explanation(setting))]
        }
        lines += [
            ".SH EXIT STATUS", ".TP", ".B 0", "success", ".TP", ".B 1", "a job failed, or an id is unknown", ".TP",
            ".B 2", "wrong usage", ".TP", ".B 3", "Redis is unreachable",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ command: Command) -> [String] {
        var lines: [String] = [".SS \(command.name)"]
        for usage in command.usages {
            lines += [".B respool \(command.name)", escaped("[OPTION]... \(usage)"), ".br"]
        }
        for paragraph in [command.summary.sentence] + command.details { lines += [".PP", escaped(paragraph)] }
        for option in command.options {
            lines += [".TP", ".B \(escaped(HelpPage().heading(option)))", escaped(HelpPage().explanation(option))]
        }
        for example in command.examples {
            lines += [".PP", ".B \(escaped(example.line))", ".br", escaped(example.meaning)]
        }
        return lines
    }

    /// Escapes roff requests, backslashes and hyphens.
    private func escaped(_ text: String) -> String {
        var result = text.first == "." || text.first == "'" ? "\\&" : ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "…": result += "..."
            default: result.append(character)
            }
        }
        return result
    }
}
