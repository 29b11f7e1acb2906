/// Parses a media playlist line by line.
struct HLSMediaReader {
    private(set) var targetDuration = 0.0
    private(set) var isEnded = false
    private(set) var keepsAll = false
    private var count = 0
    private var sequence: Int64 = 0
    private var key: HLSMedia.Key?
    private var map: HLSMedia.Map?
    private var pending = Pending()
    private var last: (reference: String, end: Int64)?

    /// The tags that apply to the next segment.
    private struct Pending {
        var duration: Double?
        var range: (count: Int64, offset: Int64?)?
        var isDiscontinuous = false
        var isGap = false
    }

    /// Parses the next line; returns a segment if the line is its URI.
    mutating func take(_ line: PlaylistLine) throws(PlaylistError) -> HLSMedia.Segment? {
        if line.isReference { return try segment(try line.text()) }
        if let value = try line.value(of: "#EXTINF:") {
            let text = value.prefix { $0 != "," && $0 != " " }
            guard let seconds = Double(text), (0...86_400).contains(seconds) else {
                throw .corrupt("has a segment of '\(HLSPlaylist.shown(String(text)))' seconds")
            }
            pending.duration = seconds
        } else if let value = try line.value(of: "#EXT-X-BYTERANGE:") {
            pending.range = try Self.byteRange(value)
        } else if let value = try line.value(of: "#EXT-X-KEY:") {
            key = try Self.key(HLSAttributes(value))
        } else if let value = try line.value(of: "#EXT-X-MAP:") {
            map = try Self.map(HLSAttributes(value), key)
        } else if line.hasPrefix("#EXT-X-DISCONTINUITY"), !line.hasPrefix("#EXT-X-DISCONTINUITY-") {
            pending.isDiscontinuous = true
        } else if line.hasPrefix("#EXT-X-GAP") {
            pending.isGap = true
        } else {
            try readHead(line)
        }
        return nil
    }

    private mutating func segment(_ reference: String) throws(PlaylistError) -> HLSMedia.Segment {
        guard let duration = pending.duration else {
            throw .corrupt("does not declare the duration of '\(HLSPlaylist.shown(reference))'")
        }
        guard !pending.isGap else { throw .corrupt("declares that '\(HLSPlaylist.shown(reference))' is missing") }
        let range = try Self.resolve(pending.range, reference, last)
        last = range.map { (reference, $0.upperBound) }
        guard count < HLSMedia.maxSegments else { throw .corrupt("has more than \(HLSMedia.maxSegments) segments") }
        defer {
            count += 1
            pending = Pending()
        }
        return HLSMedia.Segment(
            reference: reference, duration: duration, sequence: sequence &+ Int64(count), range: range, key: key,
            map: map, isDiscontinuous: pending.isDiscontinuous)
    }

    private mutating func readHead(_ line: PlaylistLine) throws(PlaylistError) {
        if let value = try line.value(of: "#EXT-X-TARGETDURATION:") {
            targetDuration = min(max(Double(value) ?? 0, 0), 86_400)
        } else if let value = try line.value(of: "#EXT-X-MEDIA-SEQUENCE:") {
            guard let number = Int64(value), (0...Int64.max / 2).contains(number), count == 0 else {
                throw .corrupt("starts at sequence number '\(HLSPlaylist.shown(String(value)))'")
            }
            sequence = number
        } else if line.hasPrefix("#EXT-X-ENDLIST") {
            isEnded = true
        } else if let value = try line.value(of: "#EXT-X-PLAYLIST-TYPE:") {
            keepsAll = true
            if value == "VOD" { isEnded = true }
        } else if line.hasPrefix("#EXT-X-I-FRAMES-ONLY") {
            throw PlaylistError(.noAudio, "the HLS playlist contains only I-frames")
        }
    }

    private static let maxOffset = Int64(1) << 50

    /// Parses `count[@offset]`.
    private static func byteRange(_ value: Substring) throws(PlaylistError) -> (count: Int64, offset: Int64?) {
        let parts = value.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2, let count = Int64(parts[0]), (1...maxOffset).contains(count) else {
            throw .corrupt("has a byte range '\(HLSPlaylist.shown(String(value)))'")
        }
        guard parts.count == 2 else { return (count, nil) }
        guard let offset = Int64(parts[1]), (0...maxOffset).contains(offset) else {
            throw .corrupt("has a byte range '\(HLSPlaylist.shown(String(value)))'")
        }
        return (count, offset)
    }

    /// A range without an offset starts where the previous range of the same file ended.
    private static func resolve(
        _ range: (count: Int64, offset: Int64?)?, _ reference: String, _ last: (reference: String, end: Int64)?
    ) throws(PlaylistError) -> Range<Int64>? {
        guard let range else { return nil }
        if let offset = range.offset { return offset..<offset + range.count }
        guard let last, last.reference == reference else {
            throw .corrupt("has a byte range of '\(HLSPlaylist.shown(reference))' without an offset")
        }
        // The sum of thousands of ranges could overflow.
        guard last.end <= maxOffset else {
            throw .corrupt("has byte ranges beyond the largest file size")
        }
        return last.end..<last.end + range.count
    }

    private static func key(_ attributes: HLSAttributes) throws(PlaylistError) -> HLSMedia.Key? {
        let method = attributes["METHOD"] ?? ""
        if method == "NONE" { return nil }
        let format = attributes["KEYFORMAT"] ?? "identity"
        guard method == "AES-128", format == "identity" else {
            throw PlaylistError(
                .protected,
                "the HLS segments are encrypted (\(HLSPlaylist.shown(method)), DRM) and cannot be decoded")
        }
        guard let reference = attributes["URI"], !reference.isEmpty else {
            throw .corrupt("has no key for its encrypted segments")
        }
        guard attributes["IV"] != nil else { return HLSMedia.Key(reference: reference, vector: nil) }
        guard let vector = attributes.bytes("IV", count: 16) else {
            throw .corrupt("has the initialization vector '\(HLSPlaylist.shown(attributes["IV"]!))'")
        }
        return HLSMedia.Key(reference: reference, vector: vector)
    }

    private static func map(_ attributes: HLSAttributes, _ key: HLSMedia.Key?) throws(PlaylistError) -> HLSMedia.Map {
        guard let reference = attributes["URI"], !reference.isEmpty else {
            throw .corrupt("has an EXT-X-MAP without a URI")
        }
        var range: Range<Int64>?
        if let text = attributes["BYTERANGE"] {
            let (count, offset) = try byteRange(text[...])
            range = (offset ?? 0)..<(offset ?? 0) + count
        }
        if let key, key.vector == nil {
            throw .corrupt("declares '\(HLSPlaylist.shown(reference))' encrypted without an initialization vector")
        }
        return HLSMedia.Map(reference: reference, range: range, key: key)
    }
}
