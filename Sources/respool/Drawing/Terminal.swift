import CLinux
import Configuration
import Glibc
import Lifecycle

/// The target of a standard stream, and what can be displayed on it.
struct Terminal: Sendable {
    let descriptor: CInt
    /// Whether it is a terminal. Only then lines are redrawn and colors used.
    let isInteractive: Bool
    let hasColor: Bool
    /// Whether characters other than ASCII can be displayed.
    let hasUnicode: Bool

    static let output = Terminal(descriptor: STDOUT_FILENO)
    static let error = Terminal(descriptor: STDERR_FILENO)

    init(descriptor: CInt) {
        self.descriptor = descriptor
        let isDumb = Environment.process.foreign("TERM").map { $0 == "dumb" } ?? true
        isInteractive = isatty(descriptor) == 1 && !isDumb
        hasColor = isInteractive && Environment.process.foreign("NO_COLOR") == nil
        hasUnicode = Self.localeIsUnicode
        // The width of characters depends on the locale.
        if isInteractive { setlocale(LC_CTYPE, "") }
    }

    /// Columns and rows, which change with the window.
    var size: (columns: Int, rows: Int) {
        var (columns, rows): (CInt, CInt) = (0, 0)
        guard isInteractive, clinux_terminal_size(descriptor, &columns, &rows) == 0 else { return (80, 24) }
        return (Int(columns), rows > 0 ? Int(rows) : 24)
    }

    /// The mark for truncated text.
    var ellipsis: Character { hasUnicode ? "…" : "~" }

    func write(_ text: String) { StandardStream.write(text, to: descriptor) }

    /// The text in a color, if colors are enabled.
    func colored(_ text: String, _ color: Color?) -> String {
        guard hasColor, let color else { return text }
        return "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m"
    }

    /// The colors, as SGR parameters.
    enum Color: Int, Sendable {
        case bold = 1
        case faint = 2
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
        case cyan = 36
    }

    private static var localeIsUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { Environment.process.foreign($0) }.first
        let name = locale?.lowercased() ?? ""
        return name.contains("utf-8") || name.contains("utf8")
    }
}
