import Configuration

/// A command of `respool`: its options and operands, its help, and its implementation.
struct Command: Sendable {
    let name: String
    /// The operands in each usage line, after the name and `[OPTION]…`.
    let usages: [String]
    /// One line for the overview.
    let summary: String
    /// Paragraphs below the usage lines.
    let details: [String]
    let options: [Option]
    /// Settings that the help of the command lists, but for those of its options.
    let settings: [any SettingDeclaration]
    let examples: [Example]
    /// The permitted number of operands.
    let operands: ClosedRange<Int>
    let operandSuggestion: Option.Suggestion
    let run: @Sendable (Arguments) async throws(CommandFailure) -> ExitStatus

    /// An example of a command line, and its effect.
    struct Example: Sendable {
        let line: String
        let meaning: String
    }

    init(
        _ name: String, usages: [String] = [""], _ summary: String, details: [String] = [], options: [Option] = [],
        settings: [any SettingDeclaration] = [], examples: [Example] = [], operands: ClosedRange<Int> = 0...0,
        operandSuggestion: Option.Suggestion = .nothing,
        run: @escaping @Sendable (Arguments) async throws(CommandFailure) -> ExitStatus
    ) {
        self.name = name
        self.usages = usages
        self.summary = summary
        self.details = details
        self.options = options + [.help]
        let names = Set(options.compactMap { $0.setting?.name })
        self.settings = settings.filter { !names.contains($0.name) }
        self.examples = examples
        self.operands = operands
        self.operandSuggestion = operandSuggestion
        self.run = run
    }

    /// The command with that name.
    static func named(_ name: String) -> Command? { all.first { $0.name == name } }

    /// All commands, in the order of the overview.
    static let all: [Command] = [
        .enqueue, .seal, .status, .jobs, .cancel, .retry, .reschedule, .logs, .callbacks, .limit, .schedule, .pause,
        .resume,
        .purge, .quiet,
        .doctor,
        .up, .worker, .serve,
        .convert, .probe, .formats, .demo, .settings, .completions, .manual,
    ]
}
