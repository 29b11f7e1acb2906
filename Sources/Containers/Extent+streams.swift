import Bytes

/// Finds the end of containers by the units of which they consist, and a last one that is incomplete.
extension Extent {
    /// Matroska and WebM: the defect of a segment of unknown size whose last element is incomplete (RFC 8794).
    static func partialElement(_ bytes: SourceBytes) throws -> String? {
        guard let header = try bytes.element(at: 0), let size = header.size,
            let segment = try bytes.element(at: header.body + size), segment.size == nil
        else { return nil }
        var offset = segment.body
        while case let rest = bytes.rest(from: offset), rest > 0 {
            guard let head = try bytes.read(at: offset, Int(min(rest, 4))) else { return nil }
            let width = head[0].leadingZeroBitCount + 1
            // Other bytes may follow the last element.
            guard width <= 4, head.count < width || elements.contains(head[..<width].reduce(0) { $0 << 8 | Int($1) })
            else { return nil }
            guard let element = try bytes.element(at: offset) else { break }
            // A cluster of unknown size ends where the next one begins.
            offset = element.size.map { element.body.adding($0) } ?? element.body
        }
        return bytes.rest(from: offset) == 0 ? nil : "its last element is incomplete"
    }

    /// Elements of a segment and of a cluster, and those that may be anywhere (RFC 9559).
    private static let elements: Set = [
        0x114D_9B74, 0x1549_A966, 0x1654_AE6B, 0x1941_A469, 0x1043_A770, 0x1C53_BB6B, 0x1254_C367, 0x1F43_B675, 0xE7,
        0xA3, 0xA0, 0xA7, 0xAB, 0x5854, 0xAF, 0xEC, 0xBF,
    ]

    /// Flash video: the defect of a file whose last tag is incomplete.
    static func partialTag(_ bytes: SourceBytes) throws -> String? {
        guard let header = try bytes.big(at: 5, 4) else { return nil }
        // Each tag is followed by its size, of which the last one is not needed.
        var offset = header.adding(4)
        while case let rest = bytes.rest(from: offset), rest > 0 {
            // Other bytes may follow the last tag.
            guard let type = try bytes.big(at: offset, 1), [8, 9, 18].contains(type & 0x1F) else { return nil }
            guard let size = try bytes.big(at: offset + 1, 3), 11 + size <= rest else {
                return "its last tag is incomplete"
            }
            offset = offset.adding(11 + size + 4)
        }
        return nil
    }

    /// MPEG-TS: the defect of a stream whose last packet is incomplete; `nil` if there is none.
    static func partialTransportPacket(_ bytes: SourceBytes) throws -> String? {
        let length = bytes.rest(from: 0)
        for form in TransportPackets.forms where length > 3 * form.size {
            let places = (0..<3).map { form.sync + $0 * form.size }
            guard try places.allSatisfy({ try bytes.big(at: $0, 1) == TransportPackets.mark }) else { continue }
            let rest = length % form.size
            // Other bytes may follow the last packet.
            guard rest > 0,
                try rest <= form.sync || bytes.big(at: length - rest + form.sync, 1) == TransportPackets.mark
            else { return nil }
            return "its last transport packet is incomplete"
        }
        return nil
    }

    /// RealMedia: the end of the last packet of the data chunk; `nil` if it does not declare their number. RealAudio 1.0 and 2.0:
    /// the end of the data.
    static func realMedia(_ bytes: SourceBytes) throws -> Int64? {
        if try bytes.big(at: 0, 4) == realAudioMark { return try realAudio(bytes) }
        var offset: Int64 = 0
        for _ in 0..<maxChunks {
            guard let name = try bytes.text(at: offset, 4), let size = try bytes.big(at: offset + 4, 4), size > 8
            else { return nil }
            if name == "DATA" {
                guard let count = try bytes.big(at: offset + 10, 4), count > 0 else { return nil }
                // ffmpeg declares ten bytes more than it writes.
                return min(try realMediaPackets(bytes, from: offset + 18, count: count), offset + size)
            }
            offset += size
        }
        return nil
    }

    private static let realAudioMark: Int64 = 0x2E72_61FD

    private static func realAudio(_ bytes: SourceBytes) throws -> Int64? {
        guard let version = try bytes.big(at: 4, 2), let header = try bytes.big(at: 6, 2),
            let size = try bytes.big(at: version == 3 ? 18 : 12, 4), size > 0
        else { return nil }
        // In version 4, programs differ by a byte on where the size is counted from.
        return version == 3 ? 8 + header + size : version == 4 ? 39 + size : nil
    }

    /// The end of packets, each of which begins with its version and its size.
    private static func realMediaPackets(_ bytes: SourceBytes, from start: Int64, count: Int64) throws -> Int64 {
        var offset = start
        for _ in 0..<count {
            // The header alone has twelve bytes.
            guard let size = try bytes.big(at: offset + 2, 2) else { return offset + 12 }
            offset += max(size, 12)
        }
        return offset
    }

    /// The largest number of frames whose table is read, which is that of twelve days.
    private static let maxAudioFrames = Int64(1) << 20

    /// True Audio: the end of the last frame by the seek table behind the header.
    static func trueAudio(_ bytes: SourceBytes) throws -> Int64? {
        guard try bytes.text(at: 0, 4) == "TTA1", let rate = try bytes.little(at: 10, 4), rate > 0,
            let samples = try bytes.little(at: 14, 4)
        else { return nil }
        // A frame is 256/245 s long.
        let length = max(rate * 256 / 245, 1)
        let count = (samples + length - 1) / length
        guard (1...maxAudioFrames).contains(count), count <= bytes.rest(from: 26) / 4,
            let table = try bytes.read(at: 22, Int(4 * count))
        else { return nil }
        let frames = stride(from: 0, to: table.count, by: 4).reduce(Int64(0)) { sum, place in
            sum + (0..<4).reduce(0) { $0 | Int64(table[place + $1]) << (8 * $1) }
        }
        return 22 + 4 * count + 4 + frames
    }
}
