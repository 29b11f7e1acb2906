/// The files that an output may have beside its main one, as a suffix of the main file's stem.
package enum PartPattern: Codable, Hashable, Sendable {
    /// A single file.
    case single(String)
    /// Files numbered from 1, with at least `digits` digits.
    case numbered(before: String, digits: Int, after: String)

    /// The maximum number.
    package static let maxNumber = 100_000

    /// The maximum length of what replaces `{token}` in a suffix.
    package static let maxTokenBytes = 10

    /// The maximum size of the suffix in bytes.
    package var maxBytes: Int {
        let text =
            switch self {
            case .single(let name): name
            case .numbered(let before, let digits, let after):
                before + String(repeating: "0", count: max(digits, String(Self.maxNumber).count)) + after
            }
        return text.replacing("{token}", with: String(repeating: "0", count: Self.maxTokenBytes)).utf8.count
    }

    /// Whether a file may have this suffix. The comparison is bytewise.
    package func matches(_ suffix: String) -> Bool {
        let bytes = Array(suffix.utf8)
        switch self {
        case .single(let name): return bytes.elementsEqual(name.utf8)
        case .numbered(let before, let digits, let after):
            let count = bytes.count - before.utf8.count - after.utf8.count
            guard count >= max(digits, 1), bytes.starts(with: before.utf8),
                bytes.suffix(after.utf8.count).elementsEqual(after.utf8)
            else { return false }
            let number = bytes.dropFirst(before.utf8.count).prefix(count)
            // Only the zero-padded number is accepted, so that each number has one spelling.
            guard number.allSatisfy({ (0x30...0x39).contains($0) }), count == digits || number.first != 0x30,
                let value = Int(String(decoding: number, as: UTF8.self))
            else { return false }
            return (1...Self.maxNumber).contains(value)
        }
    }
}

extension Rendition {
    /// The files that an output may have beside its main one.
    package var partPatterns: [PartPattern] {
        let chapters = tags.chapters.map { [PartPattern.single($0.partName)] } ?? []
        guard AudioFormat.named(format)?.isSegmented == true else { return chapters }
        let variants = segments.bitRates.isEmpty ? [nil] : segments.bitRates.map(Optional.some)
        return chapters + variants.flatMap { SegmentParts(bitRate: $0).patterns(segments.container) }
    }
}
