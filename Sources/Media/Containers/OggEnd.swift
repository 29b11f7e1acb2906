/// The last pages of an Ogg file (RFC 3533).
enum OggEnd {
    /// Why the file is not whole: a page cut short, or a stream without its last page; nothing if it is whole.
    static func defect(_ source: any ByteSource) throws -> String? {
        // The largest page is 65,307 bytes, so the last two of them are in here.
        let count = min(source.length, 131_072)
        guard let tail = try SourceBytes(source).read(at: source.length - count, Int(count)) else { return nil }
        var ended: [UInt32: Bool] = [:]
        var index = 0
        while let page = nextPage(tail, from: index) {
            guard let size = pageSize(tail, page), page + size <= tail.count else {
                return "its last page is cut short"
            }
            ended[serial(tail, page)] = tail[page + 5] & 4 != 0
            index = page + size
        }
        return ended.values.contains(false) ? "its last page is missing" : nil
    }

    /// The count of samples that the last page of a stream tells, whether it is whole or not.
    static func lastCount(_ source: any ByteSource, serial wanted: Int64) throws -> Int64? {
        let count = min(source.length, 131_072)
        guard let tail = try SourceBytes(source).read(at: source.length - count, Int(count)) else { return nil }
        var (index, last): (Int, Int64?) = (0, nil)
        while let page = nextPage(tail, from: index), page + 27 <= tail.count {
            if Int64(serial(tail, page)) == wanted {
                let count = tail[page + 6..<page + 14].reversed().reduce(0) { $0 << 8 | UInt64($1) }
                // All bits are set where no packet ends on the page.
                if count != .max { last = Int64(bitPattern: count) }
            }
            index = page + 4
        }
        return last
    }

    private static func nextPage(_ bytes: [UInt8], from start: Int) -> Int? {
        guard start + 5 <= bytes.count else { return nil }
        return (start...bytes.count - 5).first { bytes[$0..<$0 + 5].elementsEqual([0x4F, 0x67, 0x67, 0x53, 0]) }
    }

    private static func pageSize(_ bytes: [UInt8], _ page: Int) -> Int? {
        guard page + 27 <= bytes.count else { return nil }
        let segments = Int(bytes[page + 26])
        guard page + 27 + segments <= bytes.count else { return nil }
        return 27 + segments + bytes[page + 27..<page + 27 + segments].reduce(0) { $0 + Int($1) }
    }

    private static func serial(_ bytes: [UInt8], _ page: Int) -> UInt32 {
        bytes[page + 14..<page + 18].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
