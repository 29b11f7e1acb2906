import Bytes

/// Lyrics with times as text: a line `[01:02.34]words` (LRC), which is how all but ID3 keep them.
enum LyricText {
    static func timed(_ lines: [Metadata.LyricLine]) -> String {
        lines.map { line in
            let hundredths = line.time / 10_000_000
            return
                "[\(padded(hundredths / 6000)):\(padded(hundredths / 100 % 60)).\(padded(hundredths % 100))]\(line.text)"
        }.joined(separator: "\n")
    }

    /// The lines of a text, if each of them tells its time.
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
    /// Takes lyrics that tell their times out of the texts, so that a cut can move them.
    mutating func liftLyrics() {
        for name in ["SYNCEDLYRICS", "LYRICS"] {
            guard let text = texts[name]?.first, let timed = LyricText.lines(text) else { continue }
            if lines.isEmpty { lines = timed }
            texts[name] = nil
        }
    }

    /// Writes lyrics with times as a text too, which more players read than read ID3's own form.
    package mutating func spellLyrics() {
        guard !lines.isEmpty else { return }
        texts[texts["LYRICS"] == nil ? "LYRICS" : "SYNCEDLYRICS"] = [LyricText.timed(lines)]
    }
}
