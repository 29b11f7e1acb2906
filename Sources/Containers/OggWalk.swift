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
}
