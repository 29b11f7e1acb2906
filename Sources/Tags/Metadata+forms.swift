import Bytes
import MediaTypes

// The metadata in the forms of single formats.
extension Metadata {
    /// The same metadata with chapters and totals as comments, as Ogg and FLAC store them.
    func inComments() -> Metadata {
        var result = self
        for (name, total) in [("TRACKNUMBER", "TRACKTOTAL"), ("DISCNUMBER", "DISCTOTAL")] {
            guard let both = texts[name]?.first?.split(separator: "/", maxSplits: 1), both.count == 2 else { continue }
            result.texts[name] = [String(both[0])]
            result.texts[total] = [String(both[1])]
        }
        for (index, chapter) in chapters.enumerated() {
            let number = TagName.chapter(index)
            result.texts[number] = [ChapterFile.clock(chapter.start)]
            if !chapter.title.isEmpty { result.texts[number + "NAME"] = [chapter.title] }
            if !chapter.link.isEmpty { result.texts[number + "URL"] = [chapter.link] }
        }
        return result
    }

    /// Converts gains between the form of Opus (1/256 dB relative to -23 LUFS) and that of all others (dB relative to -18
    /// LUFS).
    mutating func convertGainTags(to form: CodecWords.Loudness) {
        for part in ["TRACK", "ALBUM"] {
            let (gain, own) = ("REPLAYGAIN_\(part)_GAIN", "R128_\(part)_GAIN")
            switch form {
            case .r128:
                guard let text = texts[gain]?.first else { continue }
                let number = Self.gain(text.split(separator: " ").first.map(String.init) ?? text)
                if let number, texts[own] == nil { texts[own] = [String(Int(((number - 5) * 256).rounded()))] }
                texts[gain] = nil
                texts["REPLAYGAIN_\(part)_PEAK"] = nil
            case .replayGain:
                guard let number = texts[own]?.first.flatMap({ Self.gain($0) }) else { continue }
                if texts[gain] == nil { texts[gain] = [decimal(number / 256 + 5, places: 2) + " dB"] }
                texts[own] = nil
            }
        }
    }

    /// Parses a gain. Opus players read only 16 bits.
    private static func gain(_ text: String) -> Double? {
        Double(text).flatMap { (-32_768.0...32_767.0).contains($0) ? $0 : nil }
    }
}
