import Configuration
import Glibc
import Lifecycle
import MediaTypes
import Text

/// The parsed command line: options and operands.
struct Arguments: Sendable {
    /// The values by option name, in the order given. An option without a value has an empty string.
    private let values: [String: [String]]
    let operands: [String]

    init(values: [String: [String]], operands: [String]) {
        self.values = values
        self.operands = operands
    }

    /// Whether the option was given on the command line.
    func has(_ option: Option) -> Bool { values[option.name] != nil }

    /// The last value on the command line, or else the value of the environment variable.
    func value(_ option: Option) -> String? {
        values[option.name]?.last ?? option.setting.flatMap { Environment.process.text($0) }
    }

    /// All values given on the command line.
    func given(_ option: Option) -> [String] { values[option.name] ?? [] }

    /// An integer within the bounds.
    func whole(_ option: Option, in bounds: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = value(option) else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw .usage(
                "\(origin(of: option)) is '\(text)': give a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
            )
        }
        return number
    }

    /// A number of seconds within the bounds.
    func seconds(_ option: Option, in bounds: ClosedRange<Double>) throws(CommandFailure) -> Double? {
        guard let text = value(option) else { return nil }
        guard let number = Double(text), bounds.contains(number) else {
            throw .usage(
                "\(origin(of: option)) is '\(text)': give seconds from \(Int(bounds.lowerBound)) to \(Int(bounds.upperBound))"
            )
        }
        return number
    }

    /// One of the given words.
    func word(_ option: Option, of words: [String]) throws(CommandFailure) -> String? {
        guard let text = value(option) else { return nil }
        guard words.contains(text) else {
            let hint = Spelling.hint(for: text, among: words)
            throw .usage("\(origin(of: option)) is '\(text)'\(hint): give \(words.joined(separator: ", "))")
        }
        return text
    }

    /// Checks the value in force of an option that stands for a setting.
    func check(_ option: Option) throws(CommandFailure) {
        guard let setting = option.setting, let text = value(option), !setting.accepts(text) else { return }
        throw .usage(SettingError(origin(of: option), is: text, expected: setting.expected).message)
    }

    /// The absolute path of a file or folder that an option names. It must exist: the program that reads the setting would
    /// report its variable, which the user did not type.
    func existingPath(_ path: String, of option: Option) throws(CommandFailure) -> String {
        let absolute = try SourceAddress.absolutePath(path)
        guard access(absolute, F_OK) == 0 else {
            throw .usage("--\(option.name) is '\(PrintableText.shown(path))': \(Errno.last); give a path that exists")
        }
        return absolute
    }

    /// The option or variable that the value comes from, for messages.
    private func origin(of option: Option) -> String {
        has(option) ? "--\(option.name)" : option.setting?.name ?? "--\(option.name)"
    }
}
