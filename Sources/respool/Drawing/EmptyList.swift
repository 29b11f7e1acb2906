/// Prints lists that may be empty.
enum EmptyList {
    /// Writes the lines. If there are none, it writes the sentence to standard error, so that piped output remains empty.
    static func output(_ lines: [String], orSay sentence: String) {
        StandardStream.output(lines.map { $0 + "\n" }.joined())
        if lines.isEmpty { StandardStream.error("respool: \(TextLayout.printable(sentence))\n") }
    }
}
