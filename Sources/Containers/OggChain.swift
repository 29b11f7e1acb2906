package import Bytes

/// The links of a chained Ogg file, each of which has a stream with a serial number of its own (RFC 3533 section 4).
package enum OggChain {
    /// The length of more links is estimated from their bytes.
    private static let maxLinks = 16

    /// Whether the file ends with another stream than it begins with.
    package static func isChain(_ source: any ByteSource) throws -> Bool {
        guard let first = try OggPage(SourceBytes(source), at: 0), first.isFirst,
            let last = try OggEnd.lastPage(source)
        else { return false }
        return first.serial != last.serial
    }

    /// The approximate length of a chain of single streams; `nil` if it has others, its granule positions are senseless, or it is not
    /// all present, as each step of the search may be a request.
    package static func seconds(_ source: any ByteSource) throws -> Double? {
        guard source.isAllPresent, let seconds = try sum(source), seconds < 1e9 else { return nil }
        return seconds
    }

    private static func sum(_ source: any ByteSource) throws -> Double? {
        let bytes = SourceBytes(source)
        guard let last = try OggEnd.lastPage(source) else { return nil }
        var (begin, seconds): (Int64, Double) = (0, 0)
        for _ in 0..<maxLinks {
            guard let link = try Link(bytes, at: begin) else { return nil }
            if link.serial == last.serial { return seconds + link.seconds(to: last.granule) }
            let end = try link.end(source)
            guard end.offset > begin else { return nil }
            seconds += link.seconds(to: end.granule)
            begin = end.offset
        }
        return seconds * Double(source.length) / Double(begin)
    }
}

/// One link of a chain.
private struct Link {
    let serial: UInt32
    private let rate: Int
    /// The granule position of its first sample.
    private let start: Int64
    private let firstPage: Int64

    /// Reads the headers of the link; `nil` if there is no link with a single stream whose sample rate is known.
    init?(_ bytes: SourceBytes, at offset: Int64) throws {
        guard let first = try OggPage(bytes, at: offset), first.isFirst, let size = first.size,
            let header = first.headerSize,
            let packet = try bytes.read(at: offset + Int64(header), size - header),
            let next = try OggPage(bytes, at: offset + Int64(size)), next.serial == first.serial,
            let clock = Self.clock(packet)
        else { return nil }
        (serial, rate, firstPage) = (first.serial, clock.rate, offset)
        let ends = try Self.firstGranules(bytes, from: offset, serial: serial)
        // A page has a few seconds of sound. Granule positions that do not begin at zero are usually much larger.
        let page = ends.count < 2 ? 0 : max(ends[1] - ends[0], 0)
        let isFromZero = ends.isEmpty || ends[0] / 4 <= page || ends[0] <= 10 * Int64(rate)
        start = isFromZero ? clock.delay : ends[0] - page
    }

    /// The samples per second of granule positions, and those that a decoder drops, by the first packet (Vorbis I, 4.2.2; RFC 7845
    /// section 5.1; the mapping of FLAC in RFC 9639 section 10.1; `speex_header.h`).
    private static func clock(_ packet: [UInt8]) -> (rate: Int, delay: Int64)? {
        func little(_ offset: Int, _ count: Int) -> Int? {
            guard packet.count >= offset + count else { return nil }
            return packet[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let rate: Int?
        if packet.starts(with: "OpusHead".utf8) { return little(10, 2).map { (48000, Int64($0)) } }
        if packet.starts(with: VorbisHeader.identification.mark) {
            rate = little(12, 4)
        } else if packet.starts(with: "Speex   ".utf8) {
            rate = little(36, 4)
        } else if packet.starts(with: [0x7F] + "FLAC".utf8), packet.count >= 30 {
            rate = Int(packet[27]) << 12 | Int(packet[28]) << 4 | Int(packet[29]) >> 4
        } else {
            return nil
        }
        return rate.flatMap { $0 > 0 ? ($0, 0) : nil }
    }

    /// The first two granule positions behind the headers.
    private static func firstGranules(_ bytes: SourceBytes, from start: Int64, serial: UInt32) throws -> [Int64] {
        var (offset, ends): (Int64, [Int64]) = (start, [])
        // More pages than headers with pictures have.
        for _ in 0..<4096 {
            guard ends.count < 2, let page = try OggPage(bytes, at: offset), page.serial == serial,
                let size = page.size
            else { break }
            if let granule = page.granule, granule > 0 { ends.append(granule) }
            offset += Int64(size)
        }
        return ends
    }

    /// The length of the link up to a granule position.
    func seconds(to end: Int64?) -> Double {
        let (samples, isTooLarge) = (end ?? start).subtractingReportingOverflow(start)
        return isTooLarge ? 0 : Double(max(samples, 0)) / Double(rate)
    }

    /// The offset behind the link's last page, and that page's granule position.
    func end(_ source: any ByteSource) throws -> (offset: Int64, granule: Int64?) {
        let bytes = SourceBytes(source)
        // `low` is behind a page of the link; `high` is behind its last one.
        var (low, high): (Int64, Int64) = (firstPage, source.length)
        var granule: Int64?
        while high - low > 2 * Self.maxPageBytes {
            let middle = low + (high - low) / 2
            guard let found = try Self.page(bytes, behind: middle), found.page.serial == serial,
                let size = found.page.size
            else {
                high = middle
                continue
            }
            low = found.offset + Int64(size)
            granule = found.page.granule ?? granule
        }
        while low < high, let page = try OggPage(bytes, at: low), page.serial == serial, let size = page.size {
            low += Int64(size)
            granule = page.granule ?? granule
        }
        return (low, granule)
    }

    private static let maxPageBytes: Int64 = 65_307

    /// The first page that begins at an offset or behind it.
    private static func page(_ bytes: SourceBytes, behind start: Int64) throws -> (offset: Int64, page: OggPage)? {
        var offset = start
        let limit = start + maxPageBytes
        // Most pages have about 4 KiB.
        while offset < limit, let block = try bytes.read(at: offset, Int(min(8192, bytes.rest(from: offset)))),
            block.count > OggPage.maxHeaderBytes
        {
            var index = 0
            while let mark = OggPage.nextMark(block, from: index), mark <= block.count - OggPage.maxHeaderBytes {
                if let page = OggPage(block[mark...]) { return (offset + Int64(mark), page) }
                index = mark + 1
            }
            offset += Int64(block.count - OggPage.maxHeaderBytes + 1)
        }
        return nil
    }
}
