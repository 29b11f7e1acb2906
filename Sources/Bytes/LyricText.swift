/// Synchronized lyrics as text: lines of the form `[01:02.34]words` (LRC), used by all formats except ID3.
package enum LyricText {
    /// The text of lines.
    package static func timed(_ lines: [Metadata.LyricLine]) -> String {
        lines.map { line in
            let hundredths = line.time / 10_000_000
            return
                "[\(padded(hundredths / 6000)):\(padded(hundredths / 100 % 60)).\(padded(hundredths % 100))]\(line.text)"
        }.joined(separator: "\n")
    }

    /// The lines of a text; `nil` unless each of them has a time.
    package static func lines(_ text: String) -> [Metadata.LyricLine]? {
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
    /// The names of lyrics. Each value may have times.
    private static let lyricNames = ["SYNCEDLYRICS", "LYRICS"]

    /// Moves the first synchronized lyrics from the texts to the lines, so that ID3 stores them. The others remain texts.
    package mutating func liftLyrics() {
        for name in Self.lyricNames {
            let others = (texts[name] ?? []).filter { text in
                guard let timed = LyricText.lines(text) else { return true }
                if lines.isEmpty { lines = timed }
                // Files that store the lines in both forms have them only once.
                return LyricText.timed(timed) != LyricText.timed(lines)
            }
            texts[name] = others.isEmpty ? nil : others
        }
    }

    /// Adds synchronized lyrics as text as well, because more players read it than the ID3 frame.
    package mutating func spellLyrics() {
        guard !lines.isEmpty else { return }
        let name = texts["LYRICS"] == nil ? "LYRICS" : "SYNCEDLYRICS"
        texts[name] = [LyricText.timed(lines)] + (texts[name] ?? [])
    }

    /// Changes the lines of all synchronized lyrics.
    mutating func changeLyrics(_ change: ([LyricLine]) -> [LyricLine]) {
        lines = change(lines)
        for name in Self.lyricNames {
            let values = (texts[name] ?? []).map { text in
                LyricText.lines(text).map { LyricText.timed(change($0)) } ?? text
            }.filter { !$0.isEmpty }
            texts[name] = values.isEmpty ? nil : values
        }
    }
}
