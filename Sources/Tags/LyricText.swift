import Bytes

/// Synchronized lyrics as text: lines of the form `[01:02.34]words` (LRC), used by all formats except ID3.
enum LyricText {
    static func timed(_ lines: [Metadata.LyricLine]) -> String {
        lines.map { line in
            let hundredths = line.time / 10_000_000
            return
                "[\(padded(hundredths / 6000)):\(padded(hundredths / 100 % 60)).\(padded(hundredths % 100))]\(line.text)"
        }.joined(separator: "\n")
    }

    /// The lines of a text; `nil` unless each of them has a time.
    static func lines(_ text: String) -> [Metadata.LyricLine]? {
        let rows = text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
        let lines = rows.compactMap { line($0) }
        return lines.isEmpty || lines.count < rows.count ? nil : lines.sorted { $0.time < $1.time }
    }

    private static func line(_ row: Substring) -> Metadata.LyricLine? {
        guard row.first == "[", let end = row.firstIndex(of: "]") else { return nil }
        let parts = row[row.index(after: row.startIndex)..<end].split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let minutes = Int64(parts[0]), (0...100_000).contains(minutes),
            let seconds = Double(parts[1]), (0..<60).contains(seconds)
        else { return nil }
        let time = minutes * 60_000_000_000 + Int64((seconds * 1000).rounded()) * 1_000_000
        return Metadata.LyricLine(time: time, text: String(row[row.index(after: end)...]))
    }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
}

extension Metadata {
    /// Moves synchronized lyrics from the texts to the lines, so that a cut can adjust them.
    mutating func liftLyrics() {
        for name in ["SYNCEDLYRICS", "LYRICS"] {
            guard let text = texts[name]?.first, let timed = LyricText.lines(text) else { continue }
            if lines.isEmpty { lines = timed }
            texts[name] = nil
        }
    }

    /// Adds synchronized lyrics as text as well, because more players read it than the ID3 frame.
    package mutating func spellLyrics() {
        guard !lines.isEmpty else { return }
        texts[texts["LYRICS"] == nil ? "LYRICS" : "SYNCEDLYRICS"] = [LyricText.timed(lines)]
    }
}
