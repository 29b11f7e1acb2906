package import Bytes

/// Finds the bytes before the first packet that libav skips without an error, because they are no units of the container. The source
/// then seems to begin later.
package struct LostStart: Sendable {
    /// Whether timestamps begin with 0. Otherwise, only the lost bytes show how much is missing.
    package let isFromZero: Bool
    /// Returns the bytes from the first unit that cannot be read to the offset of the first packet; 0 if all can be read.
    package let bytes: @Sendable (_ bytes: SourceBytes, _ end: Int64) throws -> Int64

    /// More units than precede the first packet of any real file. Further ones are not checked.
    private static let maxUnits = 100_000

    /// Walks unit by unit to the first packet. `next` returns the offset after a unit; `nil` if it cannot be read.
    private static func walk(
        from start: Int64, to end: Int64, _ next: (_ offset: Int64) throws -> Int64?
    ) rethrows -> Int64 {
        var offset = start
        for _ in 0..<maxUnits where offset < end {
            guard let following = try next(offset), following <= end, following > offset else { return end - offset }
            offset = following
        }
        return 0
    }

    /// Matroska and WebM: the elements of the segment and its clusters (RFC 9559). The packet's offset is that of a block's body.
    static let matroska = LostStart(isFromZero: true) { bytes, end in
        guard let header = try bytes.element(at: 0), let size = header.size,
            let segment = try bytes.element(at: header.body.adding(size))
        else { return 0 }
        return try walk(from: segment.body, to: end) { offset in
            guard let element = try bytes.element(at: offset), let first = try bytes.big(at: offset, 1),
                let id = try bytes.big(at: offset, UInt8(first).leadingZeroBitCount + 1),
                Extent.elements.contains(Int(id))
            else { return nil }
            // libav gives no packet of an invalid block.
            if [0xA3, 0xA1].contains(id) { return element.body < end ? nil : element.body }
            let isParent = id == 0x1F43_B675 || id == 0xA0
            return element.size.map { isParent ? element.body : element.body.adding($0) } ?? element.body
        }
    }

    /// Flash video: its tags (Adobe Flash Video File Format Specification 10.1, annex E).
    static let flash = LostStart(isFromZero: true) { bytes, end in
        guard let header = try bytes.big(at: 5, 4) else { return 0 }
        return try walk(from: header.adding(4), to: end) { offset in
            guard let type = try bytes.big(at: offset, 1), [8, 9, 18].contains(type & 0x1F),
                let size = try bytes.big(at: offset + 1, 3)
            else { return nil }
            return offset + 11 + size + 4
        }
    }

    /// NUT: its headers, each of which begins with a mark and its size. Frames follow them.
    static let nut = LostStart(isFromZero: true) { bytes, end in
        let name = Array("nut/multimedia container".utf8) + [0]
        guard try bytes.read(at: 0, name.count) == name else { return 0 }
        return try walk(from: Int64(name.count), to: end) { offset in
            guard let mark = try bytes.big(at: offset, 1), mark == 0x4E else { return nil }
            // Seven bits a byte; the last one has no upper bit.
            var (size, place, byte) = (Int64(0), offset + 8, Int64(0x80))
            while byte & 0x80 != 0, place < offset + 16 {
                guard let next = try bytes.big(at: place, 1) else { return nil }
                (size, place, byte) = (size << 7 | next & 0x7F, place + 1, next)
            }
            // Longer ones have a checksum of this much.
            return place + (size > 4096 ? 4 : 0) + size
        }
    }

    /// ASF: packets of one size, which begin like the one of the first packet.
    static let advancedSystems = LostStart(isFromZero: true) { bytes, end in
        let properties: [UInt8] = [0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11]
        guard let header = try bytes.little(at: 16, 8), let head = try bytes.read(at: 0, Int(min(header, 1 << 16))),
            let found = head.firstRange(of: properties),
            let size = try bytes.little(at: Int64(found.lowerBound) + 92, 4), size > mark.count, end > header + 50
        else { return 0 }
        let last = header + 50 + (end - header - 50) / size * size
        guard try bytes.read(at: last, mark.count) == mark else { return 0 }
        return try walk(from: header + 50, to: last) { try bytes.read(at: $0, mark.count) == mark ? $0 + size : nil }
    }

    /// The error correction of ASF packets (Advanced Systems Format Specification, section 5.2.1).
    private static let mark: [UInt8] = [0x82, 0, 0]

    /// MPEG-TS: transport packets that have lost their mark, and what follows them of the first packet's stream (ISO 13818-1, 2.4.3.2).
    /// A stream that was recorded from its middle begins inside a PES packet.
    static let transport = LostStart(isFromZero: false) { bytes, end in
        for form in TransportPackets.forms where end > form.size {
            let first = end % form.size
            guard let stream = try identifier(bytes, at: end + form.sync),
                try identifier(bytes, at: first + form.sync) != nil
            else { continue }
            var (lost, offset, count) = (Int64(0), first, 0)
            while offset < end, count < maxUnits {
                let found = try identifier(bytes, at: offset + form.sync)
                if found == nil || lost > 0 && found == stream { lost += payload }
                offset += form.size
                count += 1
            }
            return lost
        }
        return 0
    }

    /// The bytes of a transport packet behind its header.
    private static let payload: Int64 = 184

    /// The number of a transport packet's stream; `nil` if there is no packet.
    private static func identifier(_ bytes: SourceBytes, at offset: Int64) throws -> Int64? {
        guard let head = try bytes.big(at: offset, 3), head >> 16 == TransportPackets.mark else { return nil }
        return head & 0x1FFF
    }

    /// MPEG program streams: packs and packets with their start codes (ISO 13818-1, 2.5.3; ISO 11172-1, 2.4.3).
    static let program = LostStart(isFromZero: false) { bytes, end in
        guard try bytes.big(at: 0, 4) == pack else { return 0 }
        return try walk(from: 0, to: end) { offset in
            guard let code = try bytes.big(at: offset, 4), code >> 8 == 1, let size = try bytes.big(at: offset + 4, 2)
            else { return nil }
            // A pack of MPEG-1 has twelve bytes; one of MPEG-2 has fourteen, and up to seven for stuffing.
            if code == pack, size >> 14 != 1 { return offset + 12 }
            if code == pack { return offset + 14 + (try bytes.big(at: offset + 13, 1) ?? 0) & 7 }
            return offset + 6 + size
        }
    }

    private static let pack: Int64 = 0x1BA
}
