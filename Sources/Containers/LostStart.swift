package import Bytes

/// Finds the bytes before the first packet that libav skips without an error, because they are not valid units of the container. The
/// source then seems to begin later.
package struct LostStart: Sendable {
    /// Whether timestamps begin with 0. Otherwise, only the lost bytes show how much is missing.
    package let isFromZero: Bool
    private let find: @Sendable (_ units: inout UnitReader, _ end: Int64) throws -> Int64

    /// The bytes from the first unit that cannot be read to the offset of the first packet; 0 if all can be read.
    package func bytes(_ source: any ByteSource, before end: Int64) throws -> Int64 {
        guard (0...source.length).contains(end) else { return 0 }
        var units = UnitReader(source)
        return try find(&units, end)
    }

    /// Matroska and WebM: the elements of the segment and its clusters (RFC 9559). The packet's offset is that of a block's body.
    static let matroska = LostStart(isFromZero: true) { units, end in
        guard let header = try units.element(at: 0), let body = header.end,
            let segment = try units.element(at: body), segment.id == 0x1853_8067
        else { return 0 }
        // The end of the cluster that is being read.
        var cluster: Int64 = 0
        return try units.walk(from: segment.body, to: end) { units, offset in
            guard let element = try units.element(at: offset) else { return nil }
            switch element.id {
            case 0x1F43_B675:
                cluster = element.end ?? .max
                return element.body
            // A block group.
            case 0xA0: return element.body
            // A block of which libav gave no packet: it is invalid, or its track is, and libav then skips the rest of the cluster.
            case 0xA3, 0xA1: return nil
            default:
                let isKnown =
                    offset < cluster
                    ? ofClusters.contains(element.id)
                    // A reader has to skip elements that it does not know. A cluster begins with its time or its checksum.
                    : try ofSegments.contains(element.id) || ![0xE7, 0xBF].contains(units.big(at: element.body, 1))
                return isKnown ? element.end : nil
            }
        }
    }

    /// Elements of a segment beside its clusters, and those that may be anywhere.
    private static let ofSegments: Set<Int64> = [
        0x114D_9B74, 0x1549_A966, 0x1654_AE6B, 0x1941_A469, 0x1043_A770, 0x1C53_BB6B, 0x1254_C367, 0xEC, 0xBF,
    ]
    /// Elements of a cluster and of a block group beside its blocks, and those that may be anywhere.
    private static let ofClusters: Set<Int64> = [
        0xE7, 0xA7, 0xAB, 0x5854, 0xAF, 0xEC, 0xBF, 0xA2, 0x9B, 0xFB, 0xFA, 0xFD, 0xA4, 0x8E, 0xC8, 0x75A1, 0x75A2,
    ]

    /// Flash video: its tags (Adobe Flash Video File Format Specification 10.1, annex E).
    static let flash = LostStart(isFromZero: true) { units, end in
        guard let header = try units.big(at: 5, 4) else { return 0 }
        return try units.walk(from: header + 4, to: end) { units, offset in
            guard let type = try units.big(at: offset, 1), [8, 9, 18].contains(type & 0x1F),
                let size = try units.big(at: offset + 1, 3)
            else { return nil }
            return offset + 11 + size + 4
        }
    }

    /// NUT: its headers, each of which begins with a mark and its size. Frames follow them.
    static let nut = LostStart(isFromZero: true) { units, end in
        let name = Array("nut/multimedia container".utf8) + [0]
        guard try units.bytes(at: 0, name.count).elementsEqual(name) else { return 0 }
        return try units.walk(from: Int64(name.count), to: end) { units, offset in
            guard try units.big(at: offset, 1) == 0x4E else { return nil }
            // Seven bits a byte; the last one has no upper bit.
            var (size, place, byte) = (Int64(0), offset + 8, Int64(0x80))
            while byte & 0x80 != 0, place < offset + 16 {
                guard let next = try units.big(at: place, 1) else { return nil }
                (size, place, byte) = (size << 7 | next & 0x7F, place + 1, next)
            }
            // Longer ones have a checksum of four bytes.
            return place + (size > 4096 ? 4 : 0) + size
        }
    }

    /// ASF: packets of one size, which begin like the one of the first packet.
    static let advancedSystems = LostStart(isFromZero: true) { units, end in
        let properties: [UInt8] = [0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11]
        guard let header = try units.little(at: 16, 8), (30...end).contains(header),
            let found = try units.bytes(at: 0, min(Int(header), UnitReader.windowBytes)).firstRange(of: properties),
            let size = try units.little(at: Int64(found.lowerBound) + 92, 4), size > correction.count, end > header + 50
        else { return 0 }
        let last = header + 50 + (end - header - 50) / size * size
        guard try units.bytes(at: last, correction.count).elementsEqual(correction) else { return 0 }
        return try units.walk(from: header + 50, to: last) { units, offset in
            try units.bytes(at: offset, correction.count).elementsEqual(correction) ? offset + size : nil
        }
    }

    /// How packets begin that have error correction data (Advanced Systems Format Specification, section 5.2.1).
    private static let correction: [UInt8] = [0x82, 0, 0]

    /// MPEG-TS: packets without their sync byte, and what follows them of the first packet's stream (ISO 13818-1, 2.4.3.2). A stream
    /// that was recorded from its middle begins inside a PES packet.
    static let transport = LostStart(isFromZero: false) { units, end in
        for form in TransportPackets.forms where end > form.size {
            // libav takes the bytes of error correction for those before a packet.
            let sync = form.size == 204 ? 16 : form.sync
            let first = end % form.size
            guard let stream = try units.stream(at: end + sync), try units.stream(at: first + sync) != nil else {
                continue
            }
            var lost: Int64 = 0
            _ = try units.walk(from: first, to: end) { units, offset in
                let found = try units.stream(at: offset + sync)
                if found == nil || lost > 0 && found == stream { lost += payload }
                return offset + form.size
            }
            return lost
        }
        return 0
    }

    /// The bytes of a transport packet behind its header.
    private static let payload: Int64 = 184

    /// MPEG program streams: packs and packets with their start codes (ISO 13818-1, 2.5.3; ISO 11172-1, 2.4.3). There may be zeros
    /// before a start code.
    static let program = LostStart(isFromZero: false) { units, end in
        guard try units.big(at: 0, 4) == pack else { return 0 }
        return try units.walk(from: 0, to: end) { units, offset in
            guard let code = try units.big(at: offset, 4) else { return nil }
            if code == 0 {
                let zeros = try units.bytes(at: offset, maxZeros).prefix { $0 == 0 }.count
                return zeros < maxZeros ? offset + Int64(zeros) - 2 : nil
            }
            guard code >> 8 == 1, let size = try units.big(at: offset + 4, 2) else { return nil }
            switch code {
            // A pack of MPEG-1 has twelve bytes; one of MPEG-2 has fourteen, and up to seven for stuffing.
            case pack where size >> 14 != 1: return offset + 12
            case pack: return offset + 14 + (try units.big(at: offset + 13, 1) ?? 0) & 7
            case 0x1B9: return offset + 4
            default: return offset + 6 + size
            }
        }
    }

    private static let pack: Int64 = 0x1BA
    /// More than fill a sector of a disc.
    private static let maxZeros = 2353
}

/// Reads the units of a container one after the other.
private struct UnitReader: ~Copyable {
    private let length: Int64
    private var window: SourceWindow

    init(_ source: any ByteSource) {
        length = source.length
        // Of a source on a server, no more than libav has read.
        window = SourceWindow(source, size: Self.windowBytes)
    }

    static let windowBytes = 1 << 16

    /// More units than precede the first packet of any real file. Further ones are not checked.
    private static let maxUnits = 100_000

    /// Walks unit by unit to the first packet, and returns the bytes from the first one that cannot be read. `next` returns the offset
    /// after a unit; `nil` if it cannot be read.
    mutating func walk(
        from start: Int64, to end: Int64, _ next: (_ units: inout UnitReader, _ offset: Int64) throws -> Int64?
    ) throws -> Int64 {
        var offset = start
        for _ in 0..<Self.maxUnits {
            guard offset < end else { break }
            guard let following = try next(&self, offset), following <= end, following > offset else {
                return end - offset
            }
            offset = following
        }
        return 0
    }

    /// The bytes at an offset, valid until the next call; fewer at the end.
    mutating func bytes(at offset: Int64, _ count: Int) throws -> Slice<UnsafeBufferPointer<UInt8>> {
        guard (0...length).contains(offset) else { return UnsafeBufferPointer<UInt8>(start: nil, count: 0)[0..<0] }
        return try window.bytes(at: offset, atLeast: count).prefix(count)
    }

    /// A big-endian number of up to seven bytes; `nil` at the end.
    mutating func big(at offset: Int64, _ count: Int) throws -> Int64? {
        let found = try bytes(at: offset, count)
        return found.count == count ? found.reduce(0) { $0 << 8 | Int64($1) } : nil
    }

    /// A little-endian number of up to eight bytes; `nil` at the end, or if it is negative.
    mutating func little(at offset: Int64, _ count: Int) throws -> Int64? {
        let found = try bytes(at: offset, count)
        guard found.count == count else { return nil }
        return Int64(exactly: found.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// The id, the offset of the body, and the offset after an element, which is `nil` if its size is unknown (RFC 8794, section 4).
    mutating func element(at offset: Int64) throws -> (id: Int64, body: Int64, end: Int64?)? {
        let head = try bytes(at: offset, 12)
        guard let first = head.first, first >= 0x10 else { return nil }
        let width = first.leadingZeroBitCount + 1
        guard head.count > width, case let mark = head[head.startIndex + width], mark != 0 else { return nil }
        let sizeWidth = mark.leadingZeroBitCount + 1
        guard head.count >= width + sizeWidth else { return nil }
        let id = head.prefix(width).reduce(0) { $0 << 8 | Int64($1) }
        let mask = Int64(1) << (7 * sizeWidth) - 1
        let size = head.dropFirst(width).prefix(sizeWidth).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & UInt64(mask)
        let body = offset + Int64(width + sizeWidth)
        return (id, body, size == UInt64(mask) ? nil : body.adding(Int64(size)))
    }

    /// The number of a transport packet's stream; `nil` if there is no packet.
    mutating func stream(at offset: Int64) throws -> Int64? {
        guard let head = try big(at: offset, 3), head >> 16 == TransportPackets.mark else { return nil }
        return head & 0x1FFF
    }
}
