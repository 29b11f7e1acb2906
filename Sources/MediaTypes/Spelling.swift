/// Finds similar words for an unknown one.
package enum Spelling {
    /// The maximum length, in bytes, of a word that is compared.
    private static let maxLength = 64

    /// The word with the smallest edit distance, if it is small. A word that differs only in case and separators, such as
    /// `sampleRate` for `sample_rate`, takes precedence.
    package static func nearest(to text: String, among words: [String]) -> String? {
        guard text.utf8.count <= maxLength else { return nil }
        if let same = words.first(where: { folded($0) == folded(text) }) { return same }
        let distances = words.map { (word: $0, distance: distance(Array(text.utf8), Array($0.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(2, text.utf8.count / 3) ? best.word : nil
    }

    /// ` (did you mean …?)` for a similar word; empty if there is none.
    package static func hint(for text: String, among words: [String], quote: String = "`") -> String {
        nearest(to: text, among: words).map { " (did you mean \(quote)\($0)\(quote)?)" } ?? ""
    }

    /// The word in lower case without separators.
    private static func folded(_ text: String) -> String { text.lowercased().filter { $0 != "_" && $0 != "-" } }

    /// The Levenshtein distance.
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
