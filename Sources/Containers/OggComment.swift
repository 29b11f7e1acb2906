package import Bytes

/// Finds the comment packet of an Ogg audio stream: its second packet, which may span several pages.
package struct OggComment {
    /// The ranges of the packet's segments in the file, in order. Those of a packet that is too large are incomplete.
    private let pieces: [Range<Int64>]
    /// The ranges of the pages that contain them, in order.
    private let pages: [Range<Int64>]
    /// The codec's signature before the comment, and whether a framing bit follows.
    private let mark: [UInt8]
    private let hasFraming: Bool
    /// The size of the packet in bytes.
    package let size: Int
    private let isTooLarge: Bool
    /// The number of segments on the last page that belong to it.
    private let lastSegments: Int
    private let source: any ByteSource
    private let bytes: SourceBytes

    /// Finds the packet of the first stream with a known codec. It is read and replaced only up to `maxBytes`.
    package init?(_ source: any ByteSource, maxBytes: Int = 2 * Metadata.maxBytes) throws {
        self.source = source
        bytes = SourceBytes(source)
        var serial: UInt32?
        var found: (mark: [UInt8], hasFraming: Bool)?
        var (pieces, pages): ([Range<Int64>], [Range<Int64>]) = ([], [])
        var offset: Int64 = 0
        var (size, segments) = (0, 0)
        var isWhole = false
        while !isWhole, let page = try OggPage(bytes, at: offset),
            let lacing = page.lacing, let headerSize = page.headerSize, let pageSize = page.size
        {
            var body = offset + Int64(headerSize)
            let end = offset + Int64(pageSize)
            if serial == nil, let codec = Self.codec(try bytes.read(at: body, 8) ?? []) {
                (serial, found) = (page.serial, codec)
            } else if page.serial == serial {
                pages.append(offset..<end)
                segments = 0
                for lace in lacing where !isWhole {
                    if size <= maxBytes { pieces.append(body..<(body + Int64(lace))) }
                    body += Int64(lace)
                    size += Int(lace)
                    segments += 1
                    isWhole = lace < 255
                }
            }
            offset = end
        }
        guard isWhole, let found else { return nil }
        (self.size, isTooLarge, lastSegments) = (size, size > maxBytes, segments)
        (self.pieces, self.pages) = (pieces, pages)
        (mark, hasFraming) = found
    }

    private static func codec(_ start: [UInt8]) -> (mark: [UInt8], hasFraming: Bool)? {
        if start.starts(with: VorbisHeader.identification.mark) { return (VorbisHeader.comment.mark, true) }
        if start.starts(with: Array("OpusHead".utf8)) { return (Array("OpusTags".utf8), false) }
        if start.starts(with: Array("Speex   ".utf8)) { return ([], false) }
        if start.starts(with: [0x7F] + Array("FLAC".utf8)) { return ([0, 0, 0, 0], false) }
        return nil
    }

    /// The source with an empty comment if the packet is too large, so that libav does not keep it in memory.
    package func shortened() throws -> any ByteSource {
        guard isTooLarge, let first = pages.first, let last = pages.last,
            var page = try bytes.read(at: last.lowerBound, last.count), var packet = try start()
        else { return source }
        // A FLAC block declares its size, in three bytes.
        if mark.count == 4 { packet.replaceSubrange(1..<4, with: [0, 0, 8]) }
        packet += [UInt8](repeating: 0, count: 8) + (hasFraming ? [1] : [])
        let lacing = page[27..<27 + Int(page[26])]
        let own = lacing.prefix(lastSegments).reduce(0) { $0 + Int($1) }
        let others = lacing.dropFirst(lastSegments)
        // The packet begins on this page now, in the place of the first one.
        let number = try bytes.read(at: first.lowerBound + 18, 4) ?? []
        page =
            page[..<5] + [page[5] & ~1] + page[6..<18] + number + [0, 0, 0, 0, UInt8(others.count + 1)]
            + [UInt8(packet.count)] + others + packet + page.dropFirst(27 + lacing.count + own)
        page.replaceSubrange(22..<26, with: littleEndian(UInt64(Self.checksum(page)), 4))
        // Pages of other streams are between them.
        let gaps = pages.dropLast().map { (range: $0, bytes: [UInt8]()) }
        return SplicedSource(source, gaps + [(last, page)])
    }

    /// The codec's signature as the file has it: the first byte of a FLAC block tells whether it is the last one.
    private func start() throws -> [UInt8]? {
        try mark.isEmpty || mark[0] != 0 ? mark : pieces.first.flatMap { try bytes.read(at: $0.lowerBound, 4) } ?? mark
    }

    /// The comment without its signature; `nil` if it is too large.
    package func body() throws -> [UInt8]? {
        guard !isTooLarge, size >= mark.count else { return nil }
        var packet: [UInt8] = []
        packet.reserveCapacity(size)
        for piece in pieces {
            guard let part = try bytes.read(at: piece.lowerBound, piece.count) else { return nil }
            packet += part
        }
        return Array(packet.dropFirst(mark.count))
    }

    /// Replaces the comment, and fills the rest with zeros; returns `false` if the new one does not fit.
    package func replace(with comment: [UInt8], in store: any RandomAccessOutput) throws -> Bool {
        guard var packet = try start() else { return false }
        packet += comment + (hasFraming ? [1] : [])
        guard !isTooLarge, packet.count <= size else { return false }
        packet += [UInt8](repeating: 0, count: size - packet.count)
        var (done, piece) = (0, 0)
        for page in pages {
            guard var content = try bytes.read(at: page.lowerBound, page.count) else { return false }
            while piece < pieces.count, page.contains(pieces[piece].lowerBound) || pieces[piece].isEmpty {
                let start = Int(pieces[piece].lowerBound - page.lowerBound)
                content.replaceSubrange(
                    start..<(start + pieces[piece].count), with: packet[done..<(done + pieces[piece].count)])
                done += pieces[piece].count
                piece += 1
            }
            content.replaceSubrange(22..<26, with: [0, 0, 0, 0])
            content.replaceSubrange(22..<26, with: littleEndian(UInt64(Self.checksum(content)), 4))
            try content.withUnsafeBytes { try store.write($0, at: page.lowerBound) }
        }
        return true
    }

    /// The checksum of a page (RFC 3533): CRC-32 with polynomial 0x04C11DB7, not reflected, initial value zero.
    private static func checksum(_ page: [UInt8]) -> UInt32 {
        page.reduce(0) { $0 << 8 ^ table[Int($0 >> 24) ^ Int($1)] }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { value, _ in
            value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
        }
    }
}
