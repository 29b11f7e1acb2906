import CLibav
import Libav

/// The position of a packet in a track, in samples from the first sample of a whole decode.
///
/// Container timestamps may be too coarse or wrong. Packet lengths are not.
struct SampleClock {
    /// The first sample of the next packet.
    private(set) var position: Int64
    /// Encoder delay in samples that libav drops from the next packets.
    private var delay: Int64 = 0
    /// Encoder delay in samples that libav drops from the last packet.
    private(set) var dropped: Int64 = 0

    /// The end time of the last packet by the container; `nil` if unknown.
    private(set) var packetEnd: Int64?

    /// Makes a clock at the end of a packet.
    init(position: Int64, behind packet: borrowing Packet) {
        self.position = position
        packetEnd = packet.end
    }

    /// Adds a packet of `samples` samples, except for those that libav drops (`libavcodec/decode.c`).
    mutating func read(_ packet: borrowing Packet, samples: Int) {
        packetEnd = packet.end
        var padding: Int64 = 0
        if let trim = packet.trimming { (delay, padding) = (trim.skip, trim.discard) }
        var rest = Int64(samples)
        if packet.isDiscarded {
            delay = max(delay - rest, 0)
            dropped = 0
            return
        }
        dropped = min(delay, rest)
        delay -= dropped
        rest -= dropped
        // libav ignores padding that is longer than the remaining samples.
        if padding <= rest { rest -= padding }
        position += rest
    }

    /// Skips samples, none of which libav drops.
    mutating func pass(_ samples: Int64) { position += samples }
}

private extension Packet {
    /// The timestamp after the packet.
    var end: Int64? { timestamp.map { $0 + duration } }
}
