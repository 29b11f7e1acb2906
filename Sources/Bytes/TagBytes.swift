/// Tags at the ends of a file, whatever is between them.
package enum TagBytes {
    /// The size of an ID3v2 tag at an offset; zero if there is none.
    package static func id3Size(_ source: any ByteSource, at offset: Int64) throws -> Int64 {
        guard let header = try SourceBytes(source).read(at: offset, 10), header.starts(with: Array("ID3".utf8)),
            header[3] < 0xFF, header[6...].allSatisfy({ $0 < 0x80 })
        else { return 0 }
        let size = header[6...].reduce(0) { $0 << 7 | Int64($1) }
        return 10 + size + (header[5] & 0x10 != 0 ? 10 : 0)
    }

    /// Where the ID3v2 tags in front of a file begin, as many of them as are looked at, and where the last of these ends.
    package static func leading(_ source: any ByteSource) throws -> (starts: [Int64], end: Int64) {
        var (starts, end): ([Int64], Int64) = ([], 0)
        while starts.count < maxLeading, case let size = try id3Size(source, at: end), size > 0 {
            starts.append(end)
            end += size
        }
        return (starts, end)
    }

    /// Each costs a read, and a few million empty ones fit in a small file.
    static let maxLeading = 64

    /// An ID3v2 tag with as much padding as makes it so long; nothing if that is too short.
    package static func id3(_ tag: [UInt8], padded count: Int) -> [UInt8]? {
        let content = (tag.lastIndex { $0 != 0 } ?? 9) + 1
        // A last text may end in zeros of its own.
        guard count >= content + 2 else { return nil }
        var tag = Array(tag.prefix(count)) + [UInt8](repeating: 0, count: max(count - tag.count, 0))
        for place in 0..<4 { tag[6 + place] = UInt8((count - 10) >> (7 * (3 - place)) & 0x7F) }
        return tag
    }

    /// The place of an APEv2 tag at the end of a file, before an ID3v1 tag if there is one.
    package static func ape(_ source: any ByteSource) throws -> Range<Int64>? {
        let bytes = SourceBytes(source)
        for end in [source.length, source.length - 128] where end >= 32 {
            guard try bytes.text(at: end - 32, 8) == "APETAGEX", let size = try bytes.little(at: end - 20, 4),
                size >= 32, size <= end
            else { continue }
            return (end - size)..<end
        }
        return nil
    }
}
