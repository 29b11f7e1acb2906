package import Bytes
import Containers
package import Libav

/// Counts the frames of one MPEG-TS elementary stream by the headers of transport packets, PES packets and frames (ISO 13818-1,
/// 2.4.3).
package struct TransportWalk {
    /// The offset of the PES packet that was reached. A frame begins with it.
    package private(set) var offset: Int64
    /// Samples of the frames before it.
    package private(set) var samples: Int64 = 0

    /// The timestamp's ticks a second, and the number of ticks after which it wraps around.
    private static let (second, wrap): (Int64, Int64) = (90_000, 1 << 33)

    /// Reads from the PES packet in which the first frame begins, over whole frames of one length, to the last PES packet that
    /// begins after at most `most` samples, or to the last one before an inconsistency.
    package init(
        _ source: any ByteSource, _ track: AudioTrack, from start: Int64, samples length: Int64, atMost most: Int64
    ) throws {
        offset = start
        var packets = TransportPackets(source, from: start)
        var (passed, due): (Int64, Int64?) = (0, nil)
        var kind: UInt32?
        while passed <= most, let unit = try packets.unit() {
            guard let header = Self.header(unit.bytes) else { return }
            if let (due, time) = due.flatMap({ due in header.time.map { (due, $0) } }) {
                // A gap means missing audio. A timestamp that goes back is ignored.
                let gap = (time - due) & (Self.wrap - 1)
                guard gap <= Self.second / 50 || gap > Self.wrap / 2 else { return }
            }
            var (place, count) = (header.size, Int64(0))
            unit.bytes.withUnsafeBufferPointer { bytes in
                while place < bytes.count, let frame = FrameWalk.frame(track.codec, bytes, at: place, Int(length)),
                    kind ?? frame.kind == frame.kind
                {
                    kind = frame.kind
                    place += frame.bytes
                    count += 1
                }
            }
            guard place == unit.bytes.count else { return }
            if count > 0 { (offset, samples) = (unit.offset, passed) }
            passed += count * length
            due = (header.time ?? due).map { $0 + count * length * Self.second / Int64(track.rate) }
        }
    }

    /// The size of a PES packet's header, and its timestamp if there is one (ISO 13818-1, 2.4.3.6).
    private static func header(_ bytes: [UInt8]) -> (size: Int, time: Int64?)? {
        guard bytes.count >= 14, bytes.starts(with: [0, 0, 1]), bytes[6] & 0xF0 == 0x80 else { return nil }
        let size = 9 + Int(bytes[8])
        guard size <= bytes.count else { return nil }
        guard bytes[7] & 0x80 != 0 else { return (size, nil) }
        let parts = bytes[9..<14].map(Int64.init)
        let high = (parts[0] >> 1 & 7) << 30 | parts[1] << 22
        return (size, high | (parts[2] >> 1) << 15 | parts[3] << 7 | parts[4] >> 1)
    }
}
