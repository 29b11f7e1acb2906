/// Lists that may be empty, for people.
enum EmptyList {
    /// Writes the lines; where there are none says so on standard error, so that what is piped stays empty.
    static func output(_ lines: [String], orSay sentence: String) {
        StandardStream.output(lines.map { $0 + "\n" }.joined())
        if lines.isEmpty { StandardStream.error("respool: \(TextLayout.printable(sentence))\n") }
    }
}
