package import Bytes

/// Checks the last pages of an Ogg file.
package enum OggEnd {
    /// The reason why the file is considered incomplete: its last page is truncated, or its last packet goes on in another page;
    /// `nil` if it is complete.
    package static func defect(_ source: any ByteSource) throws -> String? {
        guard let pages = try lastPages(source) else { return "its last page is incomplete" }
        return pages.contains { !$0.isLast && $0.lacing?.last == 255 } ? "its last page is missing" : nil
    }

    /// Whether a stream ends with a complete page that is not marked as its last one, as in a recording that was stopped.
    package static func isUnmarked(_ source: any ByteSource) throws -> Bool {
        try lastPages(source)?.contains { !$0.isLast } ?? false
    }

    /// The last page of each stream near the end; `nil` if the last one is truncated.
    private static func lastPages(_ source: any ByteSource) throws -> [OggPage]? {
        guard let tail = try tail(source) else { return [] }
        var last: [UInt32: OggPage] = [:]
        var index = 0
        while let start = OggPage.nextMark(tail, from: index) {
            guard let page = OggPage(tail[start...]), let size = page.size, start + size <= tail.count else {
                return nil
            }
            last[page.serial] = page
            index = start + size
        }
        return Array(last.values)
    }

    /// The last page with a granule position of a stream, or of the file, whether it is complete or not.
    package static func lastPage(_ source: any ByteSource, serial: UInt32? = nil) throws -> OggPage? {
        guard let tail = try tail(source) else { return nil }
        var (index, last): (Int, OggPage?) = (0, nil)
        while let start = OggPage.nextMark(tail, from: index), let page = OggPage(tail[start...]) {
            if serial ?? page.serial == page.serial, page.granule != nil { last = page }
            index = start + 4
        }
        return last
    }

    /// The largest page is 65,307 bytes, so this contains the last two.
    private static func tail(_ source: any ByteSource) throws -> [UInt8]? {
        let count = min(source.length, 131_072)
        return try SourceBytes(source).read(at: source.length - count, Int(count))
    }
}
