/// The pages of an Ogg file, from header to header (RFC 3533).
enum OggWalk {
    /// Whether all pages up to the one that ends at or after a granule position follow each other in a single stream.
    static func isUnbroken(_ source: any ByteSource, upTo granule: Int64) throws -> Bool {
        let bytes = SourceBytes(source)
        var (offset, sequence): (Int64, UInt32) = (0, 0)
        var serial: ArraySlice<UInt8>?
        while offset < source.length {
            let count = Int(min(27 + 255, source.length - offset))
            guard let page = try bytes.read(at: offset, count), count >= 27,
                page[0..<5].elementsEqual([0x4F, 0x67, 0x67, 0x53, 0]), count >= 27 + Int(page[26])
            else { return false }
            func number(_ range: Range<Int>) -> UInt64 { page[range].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
            let (isFirst, isLast) = (page[5] & 2 != 0, page[5] & 4 != 0)
            guard number(18..<22) == sequence, isFirst == (offset == 0), serial == nil || serial == page[14..<18] else {
                return false
            }
            let end = Int64(bitPattern: number(6..<14))
            if end != -1, end >= granule { return true }
            if isLast { return false }
            serial = page[14..<18]
            sequence &+= 1
            offset += 27 + Int64(page[26]) + page[27..<27 + Int(page[26])].reduce(0) { $0 + Int64($1) }
        }
        return false
    }
}
