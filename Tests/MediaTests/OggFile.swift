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

    /// The packets in pages of `counts` packets each. The last count applies to all further pages. The headers are the first
    /// two pages.
    ///
    /// Granule positions are the original ones minus `trim`.
    func paged(headers: Int, _ counts: [Int], trim: Int64, serial: UInt8 = 1) -> [UInt8] {
        var result =
            page(packets[..<1], 0, number: 0, flags: 2, serial) + page(packets[1..<headers], 0, number: 1, serial)
        var (rest, number) = (packets[headers...], 2)
        while !rest.isEmpty {
            let count = counts[min(number - 2, counts.count - 1)]
            let part = rest.prefix(count)
            rest = rest.dropFirst(count)
            let granule = part.last!.granule - trim
            result += page(part, granule, number: number, flags: rest.isEmpty ? 4 : 0, serial)
            number += 1
        }
        return result
    }

    private func page(
        _ packets: ArraySlice<Piece>, _ granule: Int64, number: Int, flags: UInt8 = 0, _ serial: UInt8
    ) -> [UInt8] {
        let lacing = packets.flatMap {
            [UInt8](repeating: 255, count: $0.bytes.count / 255) + [UInt8($0.bytes.count % 255)]
        }
        var page = Array("OggS".utf8) + [0, flags]
        page += (0..<8).map { UInt8(truncatingIfNeeded: granule >> (8 * $0)) }
        page += [serial, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        page += [0, 0, 0, 0, UInt8(lacing.count)] + lacing + packets.flatMap(\.bytes)
        let sum = Self.sum(page)
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
            let sum = Self.sum(Array(bytes[offset..<end]))
            for index in 0..<4 { bytes[offset + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            offset = end
        }
        return bytes
    }

    private static func sum(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0) }
        }
    }
}
