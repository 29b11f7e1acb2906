package import Bytes
import CLibav
package import Libav

/// Counts AAC frames in ADTS (ISO 14496-3, 1.A.3.2) within bytes that could not be decoded.
package enum TransportFrames {
    /// The number of frames between two offsets: the frames with intact headers, and the number of frames that the other bytes
    /// would contain on average.
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

    /// The size of the frame at an offset; `nil` if there is none.
    private static func length(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> Int? {
        offset < bytes.count ? FrameHeader.adtsLength(UnsafeBufferPointer(rebasing: bytes[offset...])) : nil
    }
}

/// Corrects the offsets of ADTS packets, which libav computes wrongly after skipped bytes.
package struct TransportOffsets {
    private var end: Int64 = 0
    private static let reach: Int64 = 1 << 20

    /// Begins at the start of the source.
    package init() {}

    /// Continues at another offset.
    package mutating func move(to offset: Int64) { end = offset }

    /// Sets a packet's offset to where its bytes are. `position` is where libav reads next.
    package mutating func correct(_ packet: borrowing Packet, position: Int64, _ source: any ByteSource) {
        let count = Int64(packet.bytes.count)
        if position != end + count, let found = find(Array(packet.bytes.prefix(32)), source) { end = found }
        packet.pointer.pointee.pos = end
        end += count
    }

    /// The first occurrence of the bytes from the end of the last packet.
    private func find(_ head: [UInt8], _ source: any ByteSource) -> Int64? {
        // A read error here is reported when the packet is decoded.
        let bytes = SourceBytes(source)
        if (try? bytes.read(at: end, head.count)) == head { return end }
        let count = min(source.length - end, Self.reach)
        guard count > 0, let piece = try? bytes.read(at: end, Int(count)) else { return nil }
        return piece.firstRange(of: head).map { end + Int64($0.lowerBound) }
    }
}
