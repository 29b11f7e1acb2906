/// Tags of music files that may be between MPEG audio frames, as in joined files.
package enum FrameTag {
    /// The size of the tag with which the bytes begin; `nil` if there is none.
    package static func length(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard let first = bytes.first, "TLAI".utf8.contains(first) else { return nil }
        if bytes.starts(with: "TAG+".utf8) { return 227 }
        if bytes.starts(with: "TAG".utf8) { return 128 }
        if bytes.starts(with: "LYRICSBEGIN".utf8) { return lyricsLength(bytes) }
        if bytes.starts(with: "APETAGEX".utf8) { return apeLength(bytes) }
        guard bytes.starts(with: "ID3".utf8), bytes.count >= 10 else { return nil }
        // ID3v2.4.0 section 3.1: seven bits a byte, and bit 4 of the flags for a footer.
        let head = bytes.dropFirst(5)
        guard head.dropFirst().prefix(4).allSatisfy({ $0 < 0x80 }) else { return nil }
        let size = head.dropFirst().prefix(4).reduce(0) { $0 << 7 | Int($1) }
        return size + (head.first! & 0x10 == 0 ? 10 : 20)
    }

    /// An APE tag that begins with its header, or the footer alone in version 1.
    private static func apeLength(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard bytes.count >= 32 else { return nil }
        let isHeader = bytes[bytes.startIndex + 23] & 0x20 != 0
        let size = bytes.dropFirst(12).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return isHeader ? 32 + size : 32
    }

    /// A Lyrics3 tag, whose size follows it.
    private static func lyricsLength(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        for end in ["LYRICS200", "LYRICSEND"] {
            if let found = bytes.firstRange(of: end.utf8) { return found.upperBound - bytes.startIndex }
        }
        return nil
    }
}
