import Text

/// A playlist of HTTP Live Streaming (RFC 8216): a master playlist or a media playlist.
package enum HLSPlaylist {
    case master(HLSMaster)
    case media(HLSMedia)

    /// The maximum size of a playlist in bytes.
    package static let maxBytes: Int64 = 8 << 20

    /// Parses a complete playlist.
    package static func parse(_ bytes: [UInt8]) throws(PlaylistError) -> HLSPlaylist {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(PlaylistError) in
                let lines = PlaylistLines(of: bytes)
                return try isMaster(lines) ? .master(try HLSMaster(lines)) : .media(try HLSMedia(lines))
            }
        }.get()
    }

    /// Calls the body with every reference that a reader of the playlist may open; some are passed more than once.
    package static func forEachName(
        in bytes: UnsafeRawBufferPointer, _ body: (String, NestedKind) -> Void
    ) throws(PlaylistError) {
        let lines = PlaylistLines(of: bytes)
        guard try !isMaster(lines) else {
            let master = try HLSMaster(lines)
            for variant in master.variants { body(variant.reference, .playlist) }
            for case let reference? in master.renditions.map(\.reference) { body(reference, .playlist) }
            return
        }
        // Segments are not stored, because there may be very many. Consecutive segments with the same reference pass it
        // once.
        var reader = HLSMediaReader()
        var latest: [NestedKind: String] = [:]
        func note(_ reference: String, _ kind: NestedKind) {
            // Compares bytes, because `==` treats canonically equivalent spellings as equal.
            if let last = latest[kind], last.utf8.elementsEqual(reference.utf8) { return }
            latest[kind] = reference
            body(reference, kind)
        }
        for line in lines {
            guard let segment = try reader.take(line) else { continue }
            note(segment.reference, .segment)
            if let map = segment.map { note(map.reference, .map) }
            for case let key? in [segment.map?.key, segment.key] { note(key.reference, .key) }
        }
    }

    private static func isMaster(_ lines: PlaylistLines) throws(PlaylistError) -> Bool {
        var (isFirst, isHLS, hasSegments) = (true, false, false)
        for line in lines {
            guard !isFirst || line.hasPrefix("#EXTM3U") else { throw .corrupt("does not start with #EXTM3U") }
            isFirst = false
            if line.hasPrefix("#EXT-X-STREAM-INF:") || line.hasPrefix("#EXT-X-MEDIA:") { return true }
            isHLS = isHLS || line.hasPrefix("#EXT-X-")
            hasSegments = hasSegments || line.hasPrefix("#EXTINF:") || line.hasPrefix("#EXT-X-TARGETDURATION:")
        }
        // Lists of files and stations may have `#EXTINF`, and no other tag.
        guard isHLS, hasSegments else {
            throw PlaylistError(
                .unsupported,
                "the source is a playlist (m3u) that is not one of HLS; give a URL in it as the source")
        }
        return false
    }

    /// A reference cut and escaped for a message; the query is omitted, because it may contain a secret.
    package static func shown(_ reference: String) -> String {
        let path = reference.prefix { $0 != "?" }
        let text = PrintableText.shown(path)
        return path.endIndex < reference.endIndex && !text.hasSuffix("…") ? text + "…" : text
    }
}
