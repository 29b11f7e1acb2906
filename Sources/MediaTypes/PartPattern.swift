/// Which files an output may have beside its main one, by what follows the stem of the main file's name.
package enum PartPattern: Codable, Hashable, Sendable {
    /// One file.
    case single(String)
    /// Files that are counted up from 1, in at least so many digits.
    case numbered(before: String, digits: Int, after: String)

    /// The highest number of a file.
    package static let maxNumber = 100_000

    /// Whether a file may have this suffix, which is compared by its bytes.
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
            // Each number has one spelling.
            guard number.allSatisfy({ (0x30...0x39).contains($0) }), count == digits || number.first != 0x30,
                let value = Int(String(decoding: number, as: UTF8.self))
            else { return false }
            return (1...Self.maxNumber).contains(value)
        }
    }
}

extension Rendition {
    /// The files that a result may have beside its main one.
    package var partPatterns: [PartPattern] {
        let chapters = tags.chapters.map { [PartPattern.single($0.partName)] } ?? []
        guard AudioFormat.named(format)?.isSegmented == true else { return chapters }
        let variants = segments.bitRates.isEmpty ? [nil] : segments.bitRates.map(Optional.some)
        return chapters + variants.flatMap { SegmentParts(bitRate: $0).patterns(segments.container) }
    }
}
