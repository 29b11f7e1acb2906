package import Bytes

/// Finds tags of music files behind the last frame, which most containers do not define.
package enum TrailingTags {
    /// Hides the tags at the source's end, for containers in which libav reads them as frames, a chunk or an index.
    ///
    /// libav takes a large tag for another recording and then ignores an MP3 file's padding.
    package static func hidden(_ source: any ByteSource, _ descriptor: ContainerDescriptor) throws -> any ByteSource {
        guard !source.isEndless else { return source }
        if descriptor.hidden.contains(.beyondExtent), let end = try descriptor.extent.end(source), end < source.length {
            // libav reads to the end of the file, regardless of the declared length and of the index.
            return ShortenedSource(source, to: end)
        }
        guard descriptor.hidden.contains(.tags) else { return source }
        let end = try start(source)
        return end < source.length && end > 0 ? ShortenedSource(source, to: end) : source
    }

    /// The start of the tags; the source's end if there are none.
    package static func start(_ source: any ByteSource) throws -> Int64 {
        let bytes = SourceBytes(source)
        var end = source.length
        // Each kind once, and an older version of either kind before another one.
        for _ in 0..<6 {
            guard let size = try Self.size(bytes, before: end), size > 0, size <= end else { break }
            end -= size
        }
        return end
    }

    /// The end of the tags that begin at an offset: ID3v2 without a footer and APEv2 with a header cannot always be found from the end.
    package static func end(_ source: any ByteSource, behind offset: Int64) throws -> Int64 {
        var end = offset
        for _ in 0..<6 {
            if case let size = try TagBytes.id3Size(source, at: end), size > 0, size <= source.length - end {
                end += size
            } else if let tag = try TagBytes.leadingApe(source, at: end) {
                end = tag.upperBound
            } else {
                break
            }
        }
        return end
    }

    /// The size of the tag that ends at an offset; `nil` if there is none.
    private static func size(_ bytes: SourceBytes, before end: Int64) throws -> Int64? {
        if try bytes.text(at: end - 128, 3) == "TAG" {
            return try bytes.text(at: end - 355, 4) == "TAG+" ? 355 : 128
        }
        if try bytes.text(at: end - 32, 8) == "APETAGEX", let size = try bytes.little(at: end - 20, 4), size >= 32,
            let flags = try bytes.little(at: end - 12, 4)
        {
            // The size includes the footer but not the header, which some programs declare and do not write. The footer of another tag
            // may be there instead.
            let header = end - size - 32
            let hasHeader =
                try flags & 0x8000_0000 != 0 && bytes.text(at: header, 8) == "APETAGEX"
                && (bytes.little(at: header + 20, 4) ?? 0) & 0x2000_0000 != 0
            return size + (hasHeader ? 32 : 0)
        }
        if try bytes.text(at: end - 9, 9) == "LYRICS200", let digits = try bytes.text(at: end - 15, 6) {
            return Int64(digits).map { $0 + 15 }
        }
        // The footer of ID3v2.4 (section 3.4): seven bits a byte.
        guard let footer = try bytes.read(at: end - 10, 10), footer.starts(with: "3DI".utf8),
            footer[6...].allSatisfy({ $0 < 0x80 })
        else { return nil }
        return 20 + footer[6...].reduce(0) { $0 << 7 | Int64($1) }
    }
}

/// A source limited to its first bytes.
private final class ShortenedSource: ByteSource {
    let length: Int64
    private let source: any ByteSource

    init(_ source: any ByteSource, to length: Int64) {
        self.source = source
        self.length = length
    }

    var isAllPresent: Bool { source.isAllPresent }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard offset < length else { return 0 }
        let count = min(Int64(buffer.count), length - offset)
        return try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)]), at: offset)
    }
}
