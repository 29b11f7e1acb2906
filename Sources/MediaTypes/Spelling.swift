/// Finds the word that somebody meant.
package enum Spelling {
    /// The longest word, in bytes, that is compared with others.
    private static let maxLength = 64

    /// The word that differs in the fewest letters, if they are few; a word alone in other spelling, such as `sampleRate` for
    /// `sample_rate`, goes first.
    package static func nearest(to text: String, among words: [String]) -> String? {
        guard text.utf8.count <= maxLength else { return nil }
        if let same = words.first(where: { folded($0) == folded(text) }) { return same }
        let distances = words.map { (word: $0, distance: distance(Array(text.utf8), Array($0.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(2, text.utf8.count / 3) ? best.word : nil
    }

    /// ` (did you mean …?)` behind a word that is unknown, or nothing.
    package static func hint(for text: String, among words: [String], quote: String = "`") -> String {
        nearest(to: text, among: words).map { " (did you mean \(quote)\($0)\(quote)?)" } ?? ""
    }

    /// The word in lower case, without what separates its parts.
    private static func folded(_ text: String) -> String { text.lowercased().filter { $0 != "_" && $0 != "-" } }

    /// Levenshtein's distance.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (letter == right[column] ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
