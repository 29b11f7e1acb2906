/// Finds tags at the start and the end of a file of any format.
package enum TagBytes {
    /// The size of the ID3v2 tag at an offset; zero if there is none.
    package static func id3Size(_ source: any ByteSource, at offset: Int64) throws -> Int64 {
        guard let header = try SourceBytes(source).read(at: offset, 10), header.starts(with: Array("ID3".utf8)),
            header[3] < 0xFF, header[6...].allSatisfy({ $0 < 0x80 })
        else { return 0 }
        let size = header[6...].reduce(0) { $0 << 7 | Int64($1) }
        return 10 + size + (header[5] & 0x10 != 0 ? 10 : 0)
    }

    /// The offsets of up to `maxLeading` ID3v2 tags at the start of a file, and the end of the last one.
    package static func leading(_ source: any ByteSource) throws -> (starts: [Int64], end: Int64) {
        var (starts, end): ([Int64], Int64) = ([], 0)
        while starts.count < maxLeading, case let size = try id3Size(source, at: end), size > 0 {
            starts.append(end)
            end += size
        }
        return (starts, end)
    }

    /// The maximum number of tags. Each costs a read, and a small file can contain a few million empty ones.
    static let maxLeading = 64

    /// Pads or truncates an ID3v2 tag to a length; `nil` if its content does not fit.
    package static func id3(_ tag: [UInt8], padded count: Int) -> [UInt8]? {
        let content = (tag.lastIndex { $0 != 0 } ?? 9) + 1
        // The last text may end in zeros that belong to it.
        guard count >= content + 2 else { return nil }
        var tag = Array(tag.prefix(count)) + [UInt8](repeating: 0, count: max(count - tag.count, 0))
        for place in 0..<4 { tag[6 + place] = UInt8((count - 10) >> (7 * (3 - place)) & 0x7F) }
        return tag
    }

    /// The range of an APEv2 tag behind its header at an offset.
    package static func leadingApe(_ source: any ByteSource, at offset: Int64) throws -> Range<Int64>? {
        let bytes = SourceBytes(source)
        guard try bytes.text(at: offset, 8) == "APETAGEX", let size = try bytes.little(at: offset + 12, 4),
            let flags = try bytes.little(at: offset + 20, 4), flags & 0x2000_0000 != 0, size >= 32,
            size + 32 <= bytes.rest(from: offset)
        else { return nil }
        // The size includes the footer but not the header.
        return (offset + 32)..<(offset + 32 + size)
    }

    /// The range of an APEv2 tag at the end of a file, or before an ID3v1 tag.
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
