/// A channel of a source, by its number or by its speaker.
package enum ChannelReference: Codable, Hashable, Sendable {
    /// From 1, in the source's order.
    case number(Int)
    /// `FL`, `FR`, `FC`, `LFE`, `BL` …
    case speaker(String)

    /// Parses `2`, `c2`, `FR` or, for the three front speakers, `R`; `nil` if the text is none of these.
    package init?(parsing text: Substring) {
        let digits = text.first == "c" ? text.dropFirst() : text
        if let number = Int(digits), (1...64).contains(number), digits.first?.isNumber == true {
            self = .number(number)
            return
        }
        let name = ["L": "FL", "R": "FR", "C": "FC"][text.uppercased()] ?? text.uppercased()
        guard Self.speakers.contains(name) else { return nil }
        self = .speaker(name)
    }

    /// Parses comma-separated references, such as `R,L` or `2,1`.
    package static func list(parsing text: String) -> [ChannelReference]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let references = parts.compactMap { ChannelReference(parsing: $0) }
        return (1...64).contains(parts.count) && references.count == parts.count ? references : nil
    }

    /// The names of all speakers.
    package static let speakers: [String] = [
        "FL", "FR", "FC", "LFE", "BL", "BR", "FLC", "FRC", "BC", "SL", "SR", "TC", "TFL", "TFC", "TFR", "TBL", "TBC",
        "TBR", "WL", "WR", "SDL", "SDR", "LFE2", "TSL", "TSR", "BFC", "BFL", "BFR",
    ]
}

extension ChannelReference: CustomStringConvertible {
    package var description: String {
        switch self {
        case .number(let number): "c\(number)"
        case .speaker(let name): name
        }
    }
}
