import Glibc

/// Whether the jobs of a filter may be changed.
enum Consent: Sendable {
    /// `--yes` was given.
    case given
    /// Somebody at the terminal is asked first.
    case asked
    /// `--dry-run`: nothing is changed.
    case dryRun

    static let options = [yes, rehearsal]
    /// The paragraph for help.
    static let rule =
        "At a terminal, the number and some of the jobs are shown first, with a question. Without a terminal, --yes is required. "
        + "--dry-run only shows them. A job that changed meanwhile is left alone, with the reason."
    static let yes = Option("yes", letter: "y", "with a filter: asks no question")
    static let rehearsal = Option("dry-run", letter: "n", "with a filter: prints how many jobs match, and some of them")

    /// Without a terminal nobody can be asked.
    init(_ arguments: Arguments) throws(CommandFailure) {
        if arguments.has(Self.rehearsal) {
            guard !arguments.has(Self.yes) else {
                throw .usage("--dry-run and --yes are mutually exclusive: give one")
            }
            self = .dryRun
        } else if arguments.has(Self.yes) {
            self = .given
        } else {
            guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                throw .usage("--yes is missing: give it to change all jobs of the filter, or --dry-run to count them")
            }
            self = .asked
        }
    }

    /// Whether the options are among the arguments.
    static func isGiven(_ arguments: Arguments) -> Bool { options.contains { arguments.has($0) } }

    /// Prints a question, and returns whether the answer is yes.
    static func ask(_ question: String) -> Bool {
        Terminal.error.write("\(TextLayout.printable(question)) [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }
}
