package import Bytes

/// Reads the pages of an Ogg file by their headers.
package enum OggWalk {
    /// Whether all pages up to the one that ends at or after a granule position are consecutive pages of a single stream.
    package static func isUnbroken(_ source: any ByteSource, upTo granule: Int64) throws -> Bool {
        let bytes = SourceBytes(source)
        var (offset, number): (Int64, UInt32) = (0, 0)
        var serial: UInt32?
        while offset < source.length {
            guard let page = try OggPage(bytes, at: offset), let size = page.size, page.number == number,
                page.isFirst == (offset == 0), serial ?? page.serial == page.serial
            else { return false }
            if let end = page.granule, end >= granule { return true }
            if page.isLast { return false }
            serial = page.serial
            number &+= 1
            offset += Int64(size)
        }
        return false
    }

    /// The bytes before an offset from the first page on that has sound of a stream, or cannot be read; `nil` if only pages of headers
    /// and other streams are there. The granule position of headers is 0 (RFC 3533 section 4), or that of a page on which none ends.
    package static func soundBytes(_ bytes: SourceBytes, of serial: UInt32, before end: Int64) throws -> Int64? {
        var offset: Int64 = 0
        if try OggPage(bytes, at: offset) == nil {
            // A tag may precede the first page.
            guard let front = try bytes.read(at: 0, Int(min(end, 1 << 16))), let mark = OggPage.nextMark(front, from: 0)
            else { return nil }
            offset = Int64(mark)
        }
        while offset < end {
            guard let page = try OggPage(bytes, at: offset), let size = page.size,
                page.serial != serial || page.granule ?? 0 == 0
            else { return end - offset }
            offset += Int64(size)
        }
        return nil
    }
}
