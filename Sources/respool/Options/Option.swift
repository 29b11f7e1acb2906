import Configuration

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
    /// What holds when neither the option nor its setting is given, for help.
    let fallback: String?
    /// The setting that the option stands for.
    let setting: (any SettingDeclaration)?
    let suggestion: Suggestion
    let isRepeatable: Bool

    /// The shell completions of the value.
    enum Suggestion: Sendable, Hashable {
        case nothing, files, folders
        case words([String])
    }

    init(
        _ name: String, letter: Character? = nil, aliases: [String] = [], value placeholder: String? = nil,
        _ summary: String, fallback: String? = nil, setting: (any SettingDeclaration)? = nil,
        suggestion: Suggestion = .nothing,
        isRepeatable: Bool = false
    ) {
        self.name = name
        self.letter = letter
        self.aliases = aliases
        self.placeholder = placeholder
        self.summary = summary
        self.fallback = fallback ?? setting?.fallback.text
        self.setting = setting
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
        setting: Settings.redisURL)
    static let queue = Option(
        "queue", value: "NAME", "the queue: letters, digits, '_', '.' and '-'",
        setting: Settings.queue)
    static let allowHost = Option(
        "allow-host", value: "HOST",
        "a private host, address or network that is allowed for sources; the variable takes several, separated by `,`",
        setting: Settings.allowedHosts,
        isRepeatable: true)
    static let allowOutputHost = Option(
        "allow-output-host", value: "HOST",
        "a private host, address or network that is allowed for outputs and callbacks; the variable takes several, separated by `,`",
        setting: Settings.allowedOutputHosts,
        isRepeatable: true)
}
