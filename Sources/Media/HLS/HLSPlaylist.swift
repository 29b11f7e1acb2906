import MediaTypes

/// A playlist of HTTP Live Streaming (RFC 8216): one that names others, or one that names segments.
enum HLSPlaylist {
    case master(HLSMaster)
    case media(HLSMedia)

    /// The most bytes of a playlist.
    static let mostBytes: Int64 = 8 << 20

    /// Whether the bytes begin as every playlist does.
    static func begins(_ source: any ByteSource) throws -> Bool {
        try SourceBytes(source).read(at: 0, PlaylistMark.length).map { PlaylistMark.begins($0) } ?? false
    }

    static func read(_ source: any ByteSource) throws(MediaError) -> HLSPlaylist {
        let bytes: [UInt8]?
        do { bytes = try SourceBytes(source).read(at: 0, Int(min(source.length, mostBytes + 1))) } catch {
            throw MediaError(.source(error), operation, "the playlist could not be read: \(error)")
        }
        guard let bytes, bytes.count <= mostBytes else {
            throw failure("has \(source.length) bytes, over the limit of \(mostBytes)")
        }
        return try parse(String(decoding: bytes, as: UTF8.self))
    }

    static func parse(_ text: String) throws(MediaError) -> HLSPlaylist {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\u{FEFF}" }.trimmed }
        guard lines.first?.hasPrefix("#EXTM3U") == true else { throw failure("does not begin with #EXTM3U") }
        let isMaster = lines.contains { $0.hasPrefix("#EXT-X-STREAM-INF:") || $0.hasPrefix("#EXT-X-MEDIA:") }
        if isMaster { return .master(HLSMaster(lines)) }
        guard lines.contains(where: { $0.hasPrefix("#EXTINF:") || $0.hasPrefix("#EXT-X-TARGETDURATION:") }) else {
            throw MediaError(
                .unsupportedFormat, operation,
                "the source is a list of other places (m3u), not an HLS playlist; give one of them as the source")
        }
        return .media(try HLSMedia(lines))
    }

    static let operation = "read the playlist"

    static func failure(_ why: String) -> MediaError {
        MediaError(.corruptMedia, operation, "the HLS playlist \(why)")
    }

    /// A reference short enough, and clean enough, for a sentence; a query may hold a secret.
    static func shown(_ reference: String) -> String {
        let path = reference.prefix { $0 != "?" }
        let clean = path.unicodeScalars.prefix(100).map { $0.value < 0x20 || $0.value == 0x7f ? "?" : Character($0) }
        return String(clean) + (path.count > 100 || path.endIndex < reference.endIndex ? "…" : "")
    }
}

extension Substring {
    /// Without the spaces at its end.
    fileprivate var trimmed: Substring {
        var rest = self
        while rest.last == " " || rest.last == "\t" { rest = rest.dropLast() }
        return rest
    }

    /// What follows the tag, if the line is one.
    func value(of tag: String) -> Substring? { hasPrefix(tag) ? dropFirst(tag.count) : nil }
}
