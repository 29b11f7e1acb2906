package import Bytes
import CLibav
package import Libav

/// Frames of AAC in ADTS (ISO 14496-3, 1.A.3.2), found in bytes that a decoder did not get through.
package enum TransportFrames {
    /// How many frames lay between two offsets: those whose headers are whole, and what the rest would have held by the
    /// average number of bytes.
    package static func count(_ source: any ByteSource, from start: Int64, to end: Int64, average: Double) -> Double? {
        guard end > start, end - start < 1 << 22, average > 0,
            let bytes = try? SourceBytes(source).read(at: start, Int(end - start))
        else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            var (offset, frames, unknown) = (0, 0.0, 0)
            while offset < bytes.count {
                if let length = length(bytes, offset),
                    offset + length == bytes.count || self.length(bytes, offset + length) != nil
                {
                    frames += 1
                    offset += length
                } else {
                    unknown += 1
                    offset += 1
                }
            }
            return frames + (Double(unknown) / average).rounded()
        }
    }

    /// Bytes of the frame at an offset; nothing if none begins there.
    private static func length(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> Int? {
        offset < bytes.count ? FrameHeader.adtsLength(UnsafeBufferPointer(rebasing: bytes[offset...])) : nil
    }
}

/// Where the packets of an ADTS stream lie, which libav counts wrongly behind bytes that it passed over.
package struct TransportOffsets {
    private var end: Int64 = 0
    private static let reach: Int64 = 1 << 20

    package init() {}

    /// Goes on elsewhere.
    package mutating func move(to offset: Int64) { end = offset }

    /// Gives a packet the offset at which its bytes are; `position` is where libav reads next.
    package mutating func correct(_ packet: borrowing Packet, position: Int64, _ source: any ByteSource) {
        let count = Int64(packet.bytes.count)
        if position != end + count, let found = find(Array(packet.bytes.prefix(32)), source) { end = found }
        packet.pointer.pointee.pos = end
        end += count
    }

    /// The first place, from where the last packet ends, that holds these bytes.
    private func find(_ head: [UInt8], _ source: any ByteSource) -> Int64? {
        // What cannot be read here cannot be decoded either, which is told there.
        let bytes = SourceBytes(source)
        if (try? bytes.read(at: end, head.count)) == head { return end }
        let count = min(source.length - end, Self.reach)
        guard count > 0, let piece = try? bytes.read(at: end, Int(count)) else { return nil }
        return piece.firstRange(of: head).map { end + Int64($0.lowerBound) }
    }
}
