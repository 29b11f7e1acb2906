import CLinux
import Text

/// Fits text to the columns of a terminal.
enum TextLayout {
    /// Wraps the words of a text to lines of at most `width` columns. A longer word gets a separate line.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, columns(line) + 1 + columns(String(word)) > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// The number of columns of the text: two for wide characters, none for combining marks.
    static func columns(_ text: String) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + columns($1) }
    }

    /// The text in exactly `width` columns: padded, or truncated with a mark.
    static func fitted(_ text: String, width: Int, mark: Character = "…", isRight: Bool = false) -> String {
        let missing = width - columns(text)
        guard missing < 0 else {
            let space = String(repeating: " ", count: missing)
            return isRight ? space + text : text + space
        }
        return cut(text, width: width, mark: mark)
    }

    /// The text in at most `width` columns, truncated with a mark if it is longer.
    static func cut(_ text: String, width: Int, mark: Character = "…") -> String {
        guard columns(text) > width else { return text }
        guard width > 0 else { return "" }
        var (result, used) = ("", 0)
        for character in text {
            let next = columns(character)
            guard used + next <= width - 1 else { break }
            result.append(character)
            used += next
        }
        return result + String(mark) + String(repeating: " ", count: max(0, width - 1 - used))
    }

    /// The text with escapes for characters that move the cursor, change colors or reverse the direction of text.
    static func printable(_ text: String) -> String { PrintableText.escaped(text) }

    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        let width = clinux_columns(scalar.value)
        // wcwidth supports only the characters of the current locale. An unknown one most likely takes one column.
        return width >= 0 ? Int(width) : 1
    }
}
