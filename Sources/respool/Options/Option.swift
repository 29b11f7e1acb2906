/// An option of a command. Parsing, help, completions and the manual page are derived from it.
struct Option: Sendable {
    /// The long name, without dashes.
    let name: String
    let letter: Character?
    /// Other long names of the option.
    let aliases: [String]
    /// The form of the value; `nil` for an option without a value.
    let placeholder: String?
    let summary: String
    /// The default value for the help, if neither the option nor its variable is given.
    let fallback: String?
    /// The environment variable that replaces the option.
    let variable: String?
    let suggestion: Suggestion
    let isRepeatable: Bool

    /// The shell completions of the value.
    enum Suggestion: Sendable, Hashable {
        case nothing, files, folders
        case words([String])
    }

    init(
        _ name: String, letter: Character? = nil, aliases: [String] = [], value placeholder: String? = nil,
        _ summary: String, fallback: String? = nil, variable: String? = nil, suggestion: Suggestion = .nothing,
        isRepeatable: Bool = false
    ) {
        self.name = name
        self.letter = letter
        self.aliases = aliases
        self.placeholder = placeholder
        self.summary = summary
        self.fallback = fallback
        self.variable = variable
        self.suggestion = suggestion
        self.isRepeatable = isRepeatable
    }
}

// Options shared by several commands.
extension Option {
    static let help = Option("help", letter: "h", "prints this help")
    static let version = Option("version", letter: "V", "prints the version")
    static let json = Option("json", "prints JSON Lines")
    static let redis = Option(
        "redis", value: "URL",
        "the server: redis://, redis+sentinel://, redis+cluster://, these with rediss, or unix://",
        fallback: "redis://127.0.0.1:6379/0",
        variable: "RESPOOL_REDIS_URL")
    static let queue = Option(
        "queue", value: "NAME", "the queue: letters, digits, '_', '.' and '-'", fallback: "default",
        variable: "RESPOOL_QUEUE")
    static let allowHost = Option(
        "allow-host", value: "HOST",
        "a private host, address or network that is allowed for sources; the variable takes several, separated by `,`",
        variable: "RESPOOL_ALLOW_HOSTS",
        isRepeatable: true)
    static let allowOutputHost = Option(
        "allow-output-host", value: "HOST",
        "a private host, address or network that is allowed for outputs and callbacks; the variable takes several, separated by `,`",
        variable: "RESPOOL_ALLOW_OUTPUT_HOSTS",
        isRepeatable: true)
}
