/// A media playlist: the segments of one rendition, in their order.
struct HLSMedia {
    private(set) var segments: [Segment] = []
    /// Seconds that no segment is longer than.
    private(set) var targetDuration = 0.0
    /// Whether no segment will be added any more.
    private(set) var isEnded = false
    /// Whether segments are only ever added.
    private(set) var keepsAll = false

    /// The most segments of a playlist: a day of them, one a second.
    static let mostSegments = 100_000

    struct Segment {
        let reference: String
        /// Seconds.
        let duration: Double
        /// Its number in the whole presentation.
        let sequence: Int64
        let range: Range<Int64>?
        let key: Key?
        let map: Map?
        /// Whether times or codec may change before it.
        let isDiscontinuous: Bool
    }

    /// How a segment is encrypted: AES-128 in cipher block chaining.
    struct Key: Hashable {
        let reference: String
        let vector: [UInt8]?
    }

    /// The part that comes before segments of MPEG-4.
    struct Map: Hashable {
        let reference: String
        let range: Range<Int64>?
        let key: Key?
    }

    /// What lines say of the segment to come.
    private struct Pending {
        var duration: Double?
        var range: (count: Int64, offset: Int64?)?
        var isDiscontinuous = false
        var isGap = false
    }

    init(_ lines: [Substring]) throws(MediaError) {
        var sequence: Int64 = 0
        var (key, map): (Key?, Map?) = (nil, nil)
        var pending = Pending()
        var last: (reference: String, end: Int64)?
        for line in lines {
            if let value = line.value(of: "#EXTINF:") {
                let text = value.prefix { $0 != "," && $0 != " " }
                guard let seconds = Double(text), (0...86_400).contains(seconds) else {
                    throw HLSPlaylist.failure("has a segment of '\(HLSPlaylist.shown(String(text)))' seconds")
                }
                pending.duration = seconds
            } else if let value = line.value(of: "#EXT-X-BYTERANGE:") {
                pending.range = try Self.byteRange(value)
            } else if let value = line.value(of: "#EXT-X-KEY:") {
                key = try Self.key(HLSAttributes(value))
            } else if let value = line.value(of: "#EXT-X-MAP:") {
                map = try Self.map(HLSAttributes(value), key)
            } else if line.hasPrefix("#EXT-X-DISCONTINUITY"), !line.hasPrefix("#EXT-X-DISCONTINUITY-") {
                pending.isDiscontinuous = true
            } else if line.hasPrefix("#EXT-X-GAP") {
                pending.isGap = true
            } else if !line.hasPrefix("#"), !line.isEmpty {
                let reference = String(line)
                guard let duration = pending.duration else {
                    throw HLSPlaylist.failure("does not tell the duration of '\(HLSPlaylist.shown(reference))'")
                }
                guard !pending.isGap else {
                    throw HLSPlaylist.failure("says that '\(HLSPlaylist.shown(reference))' is missing")
                }
                let range = try Self.resolve(pending.range, reference, last)
                last = range.map { (reference, $0.upperBound) }
                guard segments.count < Self.mostSegments else {
                    throw HLSPlaylist.failure("names over \(Self.mostSegments) segments")
                }
                segments.append(
                    Segment(
                        reference: reference, duration: duration, sequence: sequence &+ Int64(segments.count),
                        range: range, key: key, map: map, isDiscontinuous: pending.isDiscontinuous))
                pending = Pending()
            } else {
                try readHead(line, &sequence)
            }
        }
    }

    private mutating func readHead(_ line: Substring, _ sequence: inout Int64) throws(MediaError) {
        if let value = line.value(of: "#EXT-X-TARGETDURATION:") {
            targetDuration = min(max(Double(value) ?? 0, 0), 86_400)
        } else if let value = line.value(of: "#EXT-X-MEDIA-SEQUENCE:") {
            guard let number = Int64(value), (0...Int64.max / 2).contains(number), segments.isEmpty else {
                throw HLSPlaylist.failure("begins at sequence number '\(HLSPlaylist.shown(String(value)))'")
            }
            sequence = number
        } else if line.hasPrefix("#EXT-X-ENDLIST") {
            isEnded = true
        } else if let value = line.value(of: "#EXT-X-PLAYLIST-TYPE:") {
            keepsAll = true
            if value == "VOD" { isEnded = true }
        } else if line.hasPrefix("#EXT-X-I-FRAMES-ONLY") {
            throw MediaError(.noAudio, HLSPlaylist.operation, "the HLS playlist is of pictures only (I-frames)")
        }
    }

    private static let mostOffset = Int64(1) << 50

    /// `count[@offset]`
    private static func byteRange(_ value: Substring) throws(MediaError) -> (count: Int64, offset: Int64?) {
        let parts = value.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2, let count = Int64(parts[0]), (1...mostOffset).contains(count) else {
            throw HLSPlaylist.failure("has a byte range '\(HLSPlaylist.shown(String(value)))'")
        }
        guard parts.count == 2 else { return (count, nil) }
        guard let offset = Int64(parts[1]), (0...mostOffset).contains(offset) else {
            throw HLSPlaylist.failure("has a byte range '\(HLSPlaylist.shown(String(value)))'")
        }
        return (count, offset)
    }

    /// A range without an offset goes on where the last one of the same file ended.
    private static func resolve(
        _ range: (count: Int64, offset: Int64?)?, _ reference: String, _ last: (reference: String, end: Int64)?
    ) throws(MediaError) -> Range<Int64>? {
        guard let range else { return nil }
        if let offset = range.offset { return offset..<offset + range.count }
        guard let last, last.reference == reference else {
            throw HLSPlaylist.failure("has a byte range of '\(HLSPlaylist.shown(reference))' that begins nowhere")
        }
        // Thousands of segments add up.
        guard last.end <= mostOffset else {
            throw HLSPlaylist.failure("has byte ranges beyond every file's end")
        }
        return last.end..<last.end + range.count
    }

    private static func key(_ attributes: HLSAttributes) throws(MediaError) -> Key? {
        let method = attributes["METHOD"] ?? ""
        if method == "NONE" { return nil }
        let format = attributes["KEYFORMAT"] ?? "identity"
        guard method == "AES-128", format == "identity" else {
            throw MediaError(
                .protectedContent, HLSPlaylist.operation,
                "the HLS segments are encrypted (\(HLSPlaylist.shown(method)), DRM) and cannot be decoded")
        }
        guard let reference = attributes["URI"], !reference.isEmpty else {
            throw HLSPlaylist.failure("names no key for its encrypted segments")
        }
        guard attributes["IV"] != nil else { return Key(reference: reference, vector: nil) }
        guard let vector = attributes.bytes("IV", count: 16) else {
            throw HLSPlaylist.failure("has the initialization vector '\(HLSPlaylist.shown(attributes["IV"]!))'")
        }
        return Key(reference: reference, vector: vector)
    }

    private static func map(_ attributes: HLSAttributes, _ key: Key?) throws(MediaError) -> Map {
        guard let reference = attributes["URI"], !reference.isEmpty else {
            throw HLSPlaylist.failure("has an EXT-X-MAP without a URI")
        }
        var range: Range<Int64>?
        if let text = attributes["BYTERANGE"] {
            let (count, offset) = try byteRange(text[...])
            range = (offset ?? 0)..<(offset ?? 0) + count
        }
        if let key, key.vector == nil {
            throw HLSPlaylist.failure("encrypts '\(HLSPlaylist.shown(reference))' without an initialization vector")
        }
        return Map(reference: reference, range: range, key: key)
    }
}
