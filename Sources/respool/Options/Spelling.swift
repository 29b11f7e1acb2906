/// Finds the word that somebody meant.
enum Spelling {
    /// The word that differs in the fewest letters, if they are few.
    static func nearest(to text: String, among words: [String]) -> String? {
        let distances = words.map { (word: $0, distance: distance(Array(text.utf8), Array($0.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(2, text.utf8.count / 3) ? best.word : nil
    }

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
