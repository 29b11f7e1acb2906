import Lifecycle
import MediaTypes

/// Finds the command among the arguments, runs it, and reports errors.
enum CommandLineTool {
    /// Options that precede the command's name.
    static let options: [Option] = [.help, .version]

    /// Runs the command. An error is reported on standard error, in one line and further ones for details.
    static func run(_ words: [String]) async -> ExitStatus {
        Signals.ignoreBrokenPipes()
        do throws(CommandFailure) {
            return try await dispatch(words)
        } catch {
            if let report = error.report { StandardStream.output(report + "\n") }
            if !error.message.isEmpty { StandardStream.error("respool: \(TextLayout.printable(error.message))\n") }
            for detail in error.details { StandardStream.error("  \(TextLayout.printable(detail))\n") }
            return error.status
        }
    }

    private static func dispatch(_ words: [String]) async throws(CommandFailure) -> ExitStatus {
        let arguments = try OptionParser(options: options, stopsAtOperand: true).parse(words)
        if arguments.has(.help) { return show(HelpPage(width: helpWidth).overview()) }
        if arguments.has(.version) { return show("respool \(respoolVersion)\n") }
        guard let name = arguments.operands.first else {
            throw .usage("missing command; see `respool --help`")
        }
        if name == "help" { return try help(Array(arguments.operands.dropFirst())) }
        let command = try command(name)
        return try await run(command, Array(arguments.operands.dropFirst()))
    }

    private static func run(_ command: Command, _ words: [String]) async throws(CommandFailure) -> ExitStatus {
        let arguments: Arguments
        do throws(CommandFailure) {
            arguments = try OptionParser(options: command.options).parse(words)
            if arguments.has(.help) { return show(HelpPage(width: helpWidth).page(of: command)) }
            try check(arguments, for: command)
        } catch {
            let end = error.message.hasSuffix("?") ? " See" : "; see"
            throw .usage("\(error.message)\(end) `respool \(command.name) --help`")
        }
        return try await command.run(arguments)
    }

    private static func check(_ arguments: Arguments, for command: Command) throws(CommandFailure) {
        let count = arguments.operands.count
        if count > command.operands.upperBound {
            let extra = arguments.operands[command.operands.upperBound]
            let most = command.operands.upperBound
            throw .usage(
                "unexpected operand '\(extra)': "
                    + (most == 0 ? "`\(command.name)` takes no operands" : "`\(command.name)` takes at most \(most)"))
        }
        if count < command.operands.lowerBound {
            throw .usage("missing operand: write respool \(command.name) \(command.usages[0])")
        }
    }

    private static func help(_ names: [String]) throws(CommandFailure) -> ExitStatus {
        guard let name = names.first else { return show(HelpPage(width: helpWidth).overview()) }
        return show(HelpPage(width: helpWidth).page(of: try command(name)))
    }

    private static func command(_ name: String) throws(CommandFailure) -> Command {
        if let command = Command.named(name) { return command }
        let nearest = Spelling.nearest(to: name, among: Command.all.map(\.name))
        throw .usage(
            "unknown command '\(name)'" + (nearest.map { ": did you mean \($0)?" } ?? "; see `respool --help`"))
    }

    private static func show(_ text: String) -> ExitStatus {
        StandardStream.output(text)
        return .success
    }

    private static var helpWidth: Int {
        Terminal.output.isInteractive ? min(max(Terminal.output.size.columns, 60), 100) : 80
    }
}
