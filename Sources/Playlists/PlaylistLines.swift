import Glibc

/// The lines of a playlist that are not empty.
struct PlaylistLines: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    /// The bytes must outlive the lines.
    init(of bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func next() -> PlaylistLine? {
        while let base = rest.baseAddress, !rest.isEmpty {
            let end = memchr(base, 0x0A, rest.count).map { UnsafeRawPointer($0) - base } ?? rest.count
            let line = PlaylistLine(trimming: UnsafeRawBufferPointer(rebasing: rest[..<end]))
            rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...])
            if !line.isEmpty { return line }
        }
        return nil
    }
}

/// One line of a playlist: a tag, a comment or a URI (RFC 8216 section 4.1).
struct PlaylistLine {
    private let bytes: UnsafeRawBufferPointer

    /// The maximum size of a line in bytes.
    static let maxBytes = 64 << 10

    /// Removes the line ending, surrounding spaces, and the byte order mark of the first line.
    init(trimming bytes: UnsafeRawBufferPointer) {
        var (start, end) = (0, bytes.count)
        if end >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { start = 3 }
        while start < end, bytes[start] == 0x20 { start += 1 }
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 || bytes[end - 1] == 0x0D { end -= 1 }
        self.bytes = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    var isEmpty: Bool { bytes.isEmpty }

    /// Whether the line is a URI, not a tag or a comment.
    var isReference: Bool { bytes.first != UInt8(ascii: "#") }

    func hasPrefix(_ tag: StaticString) -> Bool {
        bytes.count >= tag.utf8CodeUnitCount && memcmp(bytes.baseAddress!, tag.utf8Start, tag.utf8CodeUnitCount) == 0
    }

    /// The text after the tag; `nil` if the line does not begin with it.
    func value(of tag: StaticString) throws(PlaylistError) -> Substring? {
        hasPrefix(tag) ? try text(from: tag.utf8CodeUnitCount)[...] : nil
    }

    /// The whole line.
    func text() throws(PlaylistError) -> String { try text(from: 0) }

    private func text(from start: Int) throws(PlaylistError) -> String {
        guard bytes.count <= Self.maxBytes else {
            throw .corrupt("has a line of \(bytes.count) bytes, over the limit of \(Self.maxBytes)")
        }
        return String(decoding: bytes[start...], as: UTF8.self)
    }
}
