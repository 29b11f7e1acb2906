package import Bytes
import Containers
package import Libav

/// The frames of one elementary stream of MPEG-TS, told from the headers of its packets and PES packets and its frames
/// (ISO 13818-1, 2.4.3).
package struct TransportWalk {
    /// Where the PES packet lies that the walk came to; a frame begins with it.
    package private(set) var offset: Int64
    /// Samples of the frames before it.
    package private(set) var samples: Int64 = 0

    /// Ticks of a time stamp a second, and how many there are before they begin anew.
    private static let (second, wrap): (Int64, Int64) = (90_000, 1 << 33)

    /// Walks from the PES packet on with which the first frame begins, over whole frames of one length, to the last PES packet
    /// that begins after no more samples than that, or to one before something out of line.
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
                // Of sound that is missing; a time stamp that lies back means nothing.
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

    /// The size of a PES packet's header, and its time stamp if there is one (ISO 13818-1, 2.4.3.6).
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
