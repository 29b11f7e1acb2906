import Glibc
import Text

/// Writes one line per event to standard error, as text for people or as JSON for programs.
package struct Log: Sendable {
    /// The severity of an event.
    package enum Level: Int, Comparable, Sendable, CaseIterable {
        case debug, info, warning, error

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        /// The level's name, as written in a line and in `RESPOOL_LOG`.
        package var name: String { String(describing: self) }

        /// The level with that name; `nil` if there is none.
        package init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }
    }

    /// The format of a line.
    package enum Form: Sendable {
        case text, json
    }

    private let form: Form
    private let least: Level
    private let context: [(key: String, value: any LogValue)]

    /// Creates a log with the format that suits standard error: text on a terminal, JSON Lines otherwise.
    package init(form: Form? = nil, least: Level = .info) {
        self.form = form ?? (isatty(STDERR_FILENO) == 1 ? .text : .json)
        self.least = least
        context = []
    }

    private init(form: Form, least: Level, context: [(key: String, value: any LogValue)]) {
        self.form = form
        self.least = least
        self.context = context
    }

    /// A log that adds the pair to every line.
    package func with(_ key: String, _ value: some LogValue) -> Log {
        Log(form: form, least: least, context: context + [(key, value)])
    }

    /// Writes a line at the level `debug`, for developers.
    package func debug(_ message: String, _ fields: KeyValuePairs<String, any LogValue> = [:]) {
        write(.debug, message, fields)
    }
    /// Writes a line at the level `info`, about normal operation.
    package func info(_ message: String, _ fields: KeyValuePairs<String, any LogValue> = [:]) {
        write(.info, message, fields)
    }
    /// Writes a line at the level `warning`, about a problem that the operator can fix.
    package func warning(_ message: String, _ fields: KeyValuePairs<String, any LogValue> = [:]) {
        write(.warning, message, fields)
    }
    /// Writes a line at the level `error`, about an operation that failed.
    package func error(_ message: String, _ fields: KeyValuePairs<String, any LogValue> = [:]) {
        write(.error, message, fields)
    }

    private func write(_ level: Level, _ message: String, _ fields: KeyValuePairs<String, any LogValue>) {
        guard level >= least else { return }
        var line = self.line(level, message, fields)
        line.append("\n")
        // A single write keeps the lines of several threads and child processes separate.
        line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }

    /// The event as one line, without its line break.
    package func line(_ level: Level, _ message: String, _ fields: KeyValuePairs<String, any LogValue> = [:]) -> String
    {
        let pairs = context + fields.map { (key: $0.key, value: $0.value) }
        return form == .json ? Self.json(level, message, pairs) : Self.text(level, message, pairs)
    }

    private static func text(_ level: Level, _ message: String, _ pairs: [(key: String, value: any LogValue)]) -> String
    {
        let tail = pairs.map { " \($0.key)=\(plain($0.value.logText))" }.joined()
        // Untrusted text in a message must not be able to add a line or to control the terminal.
        let shown = message.unicodeScalars.allSatisfy { !$0.isUnprintable } ? message : JSONText.quoted(message)
        return "\(WallClock.timestamp()) \(level.name) \(shown)\(tail)"
    }

    /// The value, in quotes unless it is one word.
    private static func plain(_ value: String) -> String {
        let isWord = !value.isEmpty && value.unicodeScalars.allSatisfy { !$0.isUnprintable && $0 != " " && $0 != "\"" }
        return isWord ? value : JSONText.quoted(value)
    }

    private static func json(_ level: Level, _ message: String, _ pairs: [(key: String, value: any LogValue)]) -> String
    {
        var line =
            #"{"time":"\#(WallClock.timestamp())","level":"\#(level.name)","message":\#(JSONText.quoted(message))"#
        for pair in pairs { line += ",\(JSONText.quoted(pair.key)):\(pair.value.logJSON)" }
        return line + "}"
    }
}
