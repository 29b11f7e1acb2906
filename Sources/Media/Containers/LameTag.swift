/// What an encoder wrote into the first frame of an MP3: how many samples at both ends are no audio.
struct LameTag {
    /// Samples that a decoder gives before the first of the source.
    let delay: Int64
    /// Samples, the delay among them, after which padding begins, and ends.
    let padding: Range<Int64>

    /// A decoder's own delay.
    private static let decoderDelay: Int64 = 529

    /// Finds the tag before the first frame of audio; nothing if there is none that libav honours as well.
    init?(_ source: any ByteSource, before offset: Int64, samples: Int64) throws {
        // The longest frame is 1,441 bytes.
        let start = max(offset - 1441, 0)
        guard let bytes = try SourceBytes(source).read(at: start, Int(offset - start)),
            let mark = Self.lastMark(bytes), mark + 8 <= bytes.count
        else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int64 {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int64($1) }
        }
        let flags = bytes[mark + 7]
        guard flags & 1 != 0 else { return nil }
        let sizes = [1: 4, 2: 4, 4: 100, 8: 4]
        let encoder = mark + 8 + sizes.reduce(0) { $0 + (flags & UInt8($1.key) != 0 ? $1.value : 0) }
        guard encoder + 24 <= bytes.count,
            ["LAME", "Lavf", "Lavc"].contains(where: { bytes[encoder...].starts(with: $0.utf8) })
        else { return nil }
        let pads = number(encoder + 21, 3)
        let frames = number(mark + 8, 4)
        guard frames > 0 else { return nil }
        delay = pads >> 12 + Self.decoderDelay
        let end = frames * samples
        padding = min(end - pads & 0xFFF + Self.decoderDelay, end)..<end
    }

    private static func lastMark(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...bytes.count - 4).last { offset in
            bytes[offset...].starts(with: "Xing".utf8) || bytes[offset...].starts(with: "Info".utf8)
        }
    }
}
