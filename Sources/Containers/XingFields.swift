/// The fields of a Xing or Info header in the first frame of an MP3 file, including LAME's extension.
package struct XingFields {
    /// The number of audio frames; `nil` if not declared.
    package let frames: Int64?
    /// Bytes of the audio frames and of the header's own frame; `nil` if not declared.
    package let bytes: Int64?
    /// The encoder delay in samples; `nil` without an extension that libav applies as well.
    package let delay: Int64?
    /// The padding in samples; `nil` under the same condition as `delay`.
    package let padding: Int64?

    /// The size of all fields, including LAME's extension up to the padding.
    package static let maxBytes = 144

    /// Reads the fields at the start of bytes; `nil` if they do not begin with the header's mark.
    package init?(_ bytes: ArraySlice<UInt8>) {
        guard Self.begins(bytes), bytes.count >= 8 else { return nil }
        let flags = bytes[bytes.startIndex + 7]
        var rest = bytes.dropFirst(8)
        func number(_ bytes: ArraySlice<UInt8>, _ count: Int) -> Int64? {
            bytes.count >= count ? bytes.prefix(count).reduce(0) { $0 << 8 | Int64($1) } : nil
        }
        frames = flags & 1 != 0 ? number(rest, 4) : nil
        rest = rest.dropFirst(flags & 1 != 0 ? 4 : 0)
        self.bytes = flags & 2 != 0 ? number(rest, 4) : nil
        rest = rest.dropFirst((flags & 2 != 0 ? 4 : 0) + (flags & 4 != 0 ? 100 : 0) + (flags & 8 != 0 ? 4 : 0))
        let isKnown = ["LAME", "Lavf", "Lavc"].contains { rest.starts(with: $0.utf8) }
        let both = isKnown ? number(rest.dropFirst(21), 3) : nil
        (delay, padding) = (both.map { $0 >> 12 }, both.map { $0 & 0xFFF })
    }

    /// Whether bytes begin with the header's mark.
    static func begins(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: "Xing".utf8) || bytes.starts(with: "Info".utf8)
    }
}
