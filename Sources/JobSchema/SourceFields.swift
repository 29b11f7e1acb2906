import MediaTypes

// The fields for reading the source.
extension FieldReader {
    func track() throws(Failure) -> TrackChoice {
        guard let text = fields["track"] else { return .best }
        if let number = Int(text), (1...1000).contains(number) { return .number(number) }
        if text == "all" { return .all }
        guard (2...16).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 | 0x20 > 0x60 && $0 | 0x20 < 0x7B || $0 == 0x2D })
        else { throw wrong("track", "the number of an audio track from 1, a language such as jpn, or all") }
        return .language(text)
    }

    func damage() throws(Failure) -> DamagePolicy {
        guard let text = fields["damage"] else { return .fail }
        guard let policy = DamagePolicy(rawValue: text) else {
            throw wrong("damage", oneOf: DamagePolicy.allCases.map(\.rawValue))
        }
        return policy
    }

    /// The number of threads that encode; `nil` if it follows the machine's load.
    func threads() throws(Failure) -> Int? {
        guard let text = fields["threads"], text != "auto" else { return nil }
        guard let number = Int(text), (1...64).contains(number) else {
            throw wrong("threads", "auto, or a whole number from 1 to 64")
        }
        return number
    }

    /// The scale of the source's dynamic range compression.
    func drc() throws(Failure) -> Double? {
        guard let text = fields["drc"] else { return nil }
        guard let scale = Double(text), (0...1).contains(scale) else {
            throw wrong("drc", "a number from 0 (none) to 1 (all), such as 0.5")
        }
        return scale
    }
}
