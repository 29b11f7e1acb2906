import TestSupport

/// Splits an Ogg stream into packets and writes them to other pages (RFC 3533).
struct OggFile {
    /// A packet, and the granule position of the page on which it ends.
    struct Piece {
        let bytes: [UInt8]
        let granule: Int64
    }

    private(set) var packets: [Piece] = []

    /// Reads the packets of a complete stream.
    init(_ bytes: [UInt8]) {
        var (offset, packet): (Int, [UInt8]) = (0, [])
        while offset + 27 <= bytes.count {
            let lacing = bytes[(offset + 27)..<(offset + 27 + Int(bytes[offset + 26]))]
            let granule = bytes[(offset + 6)..<(offset + 14)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            offset += 27 + lacing.count
            for size in lacing {
                packet += bytes[offset..<(offset + Int(size))]
                offset += Int(size)
                guard size < 255 else { continue }
                packets.append(Piece(bytes: packet, granule: Int64(bitPattern: granule)))
                packet = []
            }
        }
    }

    /// Changes the bytes of a packet.
    mutating func edit(_ index: Int, _ change: (inout [UInt8]) -> Void) {
        var bytes = packets[index].bytes
        change(&bytes)
        packets[index] = Piece(bytes: bytes, granule: packets[index].granule)
    }

    /// The packets in pages of `counts` packets each. The last count applies to all further pages. The first header is the first
    /// page, and the others are as many pages as they need.
    ///
    /// Granule positions are the original ones minus `trim`. `isMarked` is whether the last page has its flag.
    func paged(headers: Int, _ counts: [Int], trim: Int64, serial: UInt8 = 1, isMarked: Bool = true) -> [UInt8] {
        var result = page(packets[..<1], 0, number: 0, flags: 2, serial)
        var (lacing, bytes) = (Self.lacing(packets[1..<headers])[...], packets[1..<headers].flatMap(\.bytes)[...])
        let first = (lacing.count + 254) / 255 + 1
        for number in 1..<first {
            let sizes = lacing.prefix(255)
            let body = bytes.prefix(sizes.reduce(0) { $0 + Int($1) })
            result += page(Array(sizes), Array(body), 0, number: number, flags: number > 1 ? 1 : 0, serial)
            (lacing, bytes) = (lacing.dropFirst(sizes.count), bytes.dropFirst(body.count))
        }
        var (rest, number) = (packets[headers...], first)
        while !rest.isEmpty {
            let count = counts[min(number - first, counts.count - 1)]
            let part = rest.prefix(count)
            rest = rest.dropFirst(count)
            let granule = part.last!.granule - trim
            result += page(part, granule, number: number, flags: rest.isEmpty && isMarked ? 4 : 0, serial)
            number += 1
        }
        return result
    }

    private func page(
        _ packets: ArraySlice<Piece>, _ granule: Int64, number: Int, flags: UInt8 = 0, _ serial: UInt8
    ) -> [UInt8] {
        page(Self.lacing(packets), packets.flatMap(\.bytes), granule, number: number, flags: flags, serial)
    }

    private static func lacing(_ packets: ArraySlice<Piece>) -> [UInt8] {
        packets.flatMap { [UInt8](repeating: 255, count: $0.bytes.count / 255) + [UInt8($0.bytes.count % 255)] }
    }

    private func page(
        _ lacing: [UInt8], _ body: [UInt8], _ granule: Int64, number: Int, flags: UInt8, _ serial: UInt8
    ) -> [UInt8] {
        var page = Array("OggS".utf8) + [0, flags]
        page += (0..<8).map { UInt8(truncatingIfNeeded: granule >> (8 * $0)) }
        page += [serial, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        page += [0, 0, 0, 0, UInt8(lacing.count)] + lacing + body
        let sum = OggChecksum.of(page)
        for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        return page
    }

    /// A stream with other granule positions: `move` is what is added to those of an audio page, by its number.
    static func moved(_ bytes: [UInt8], by move: (Int) -> Int64) -> [UInt8] {
        var (bytes, offset, number) = (bytes, 0, 0)
        while offset + 27 <= bytes.count {
            let lacing = bytes[(offset + 27)..<(offset + 27 + Int(bytes[offset + 26]))]
            let end = offset + 27 + lacing.count + lacing.reduce(0) { $0 + Int($1) }
            let granule = bytes[(offset + 6)..<(offset + 14)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if granule > 0, granule != .max {
                let moved = granule &+ UInt64(bitPattern: move(number))
                for index in 0..<8 { bytes[offset + 6 + index] = UInt8(truncatingIfNeeded: moved >> (8 * index)) }
                number += 1
            }
            for index in 22..<26 { bytes[offset + index] = 0 }
            let sum = OggChecksum.of(Array(bytes[offset..<end]))
            for index in 0..<4 { bytes[offset + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            offset = end
        }
        return bytes
    }
}
