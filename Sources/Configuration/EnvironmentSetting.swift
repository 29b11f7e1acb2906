import Text

/// The declaration of a setting, whatever the type of its value.
package protocol SettingDeclaration: Sendable {
    /// The environment variable.
    var name: String { get }
    /// One line without a full stop. Text in backticks is shown as code.
    var meaning: String { get }
    /// The form of a value, such as `a whole number from 1 to 1024`.
    var expected: String { get }
    /// What applies if the variable is not set.
    var fallback: SettingDefault { get }
    /// The programs and commands that read the variable.
    var reader: SettingReader { get }
    /// A link from the page of settings to the page that explains more.
    var link: String? { get }
    /// Whether a text has the form of a value.
    func accepts(_ text: String) -> Bool
}

extension SettingDeclaration {
    /// The error for a value of another form. The caller removes secrets from the value.
    package func error(_ value: String) -> SettingError { SettingError(name, is: value, expected: expected) }
}

/// A setting: an environment variable that programs of respool read.
package struct EnvironmentSetting<Value: Sendable>: SettingDeclaration {
    package let name: String
    /// Parses a value; `expected` and `accepts` follow from it.
    package let form: ValueForm<Value>
    package let meaning: String
    package let fallback: SettingDefault
    package let reader: SettingReader
    package let link: String?

    package var expected: String { form.expected }

    package init(
        _ name: String, _ form: ValueForm<Value>, _ meaning: String, default fallback: SettingDefault,
        for reader: SettingReader, link: String? = nil
    ) {
        self.name = name
        self.form = form
        self.meaning = meaning
        self.fallback = fallback
        self.reader = reader
        self.link = link
    }

    package func accepts(_ text: String) -> Bool { form.parse(text) != nil }
}

/// The default of a setting.
package enum SettingDefault: Sendable {
    /// As if the variable were set to this value; the remark gives it in another unit.
    case value(String, remark: String? = nil)
    /// A default that no value expresses, in words.
    case otherwise(String)

    /// The text in help.
    package var text: String {
        switch self {
        case .value(let value, let remark): value + (remark.map { " (\($0))" } ?? "")
        case .otherwise(let words): words
        }
    }
}

/// The programs and commands that a setting concerns.
package enum SettingReader: String, Sendable {
    case queue = "worker, serve, all commands on a queue"
    case replicas = "worker, doctor, enqueue --durable"
    case worker = "worker"
    case listeners = "worker, serve"
    case serve = "serve"
    case up = "up"
    case slots = "worker, convert, probe"
}

/// A value of a setting that cannot be used.
package struct SettingError: Error, Hashable, Sendable {
    /// One sentence for people, which names the variable.
    package let message: String

    package init(message: String) { self.message = message }

    /// The variable, or the option in its place, its value, and what is expected instead.
    package init(_ name: String, is value: String, expected: String) {
        message = "\(name) is '\(PrintableText.shown(value))': expected \(expected)"
    }
}
