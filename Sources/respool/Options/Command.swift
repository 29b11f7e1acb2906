/// A word that `respool` understands: what it takes, how it is explained, and what it does.
struct Command: Sendable {
    let name: String
    /// What stands after the name in each usage line, `[OPTION]…` aside.
    let usages: [String]
    /// One line, for the overview.
    let summary: String
    /// Paragraphs under the usage lines.
    let details: [String]
    let options: [Option]
    let examples: [Example]
    /// How many operands there may be.
    let operands: ClosedRange<Int>
    let operandSuggestion: Option.Suggestion
    let run: @Sendable (Arguments) async throws(CommandFailure) -> ExitStatus

    /// A line that may be typed, and what it does.
    struct Example: Sendable {
        let line: String
        let meaning: String
    }

    init(
        _ name: String, usages: [String] = [""], _ summary: String, details: [String] = [], options: [Option] = [],
        examples: [Example] = [], operands: ClosedRange<Int> = 0...0,
        operandSuggestion: Option.Suggestion = .nothing,
        run: @escaping @Sendable (Arguments) async throws(CommandFailure) -> ExitStatus
    ) {
        self.name = name
        self.usages = usages
        self.summary = summary
        self.details = details
        self.options = options + [.help]
        self.examples = examples
        self.operands = operands
        self.operandSuggestion = operandSuggestion
        self.run = run
    }

    /// The command with that name.
    static func named(_ name: String) -> Command? { all.first { $0.name == name } }

    /// Every command, in the order of the overview.
    static let all: [Command] = [
        .enqueue, .seal, .status, .jobs, .cancel, .retry, .logs, .callbacks, .limit, .schedule, .pause, .resume, .purge,
        .doctor,
        .worker,
        .serve,
        .convert, .probe, .formats, .demo, .completions, .manual,
    ]
}
