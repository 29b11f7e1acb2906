import CLibav
import Libav

/// Where in a track a packet's samples begin, counted from the first sample that a whole decode gives.
///
/// Containers' time stamps are too coarse, or wrong; lengths of packets are neither.
struct SampleClock {
    /// The sample that the next packet begins with.
    private(set) var position: Int64
    /// Samples of the packets to come that libav drops because they are encoder delay.
    private var delay: Int64 = 0
    /// Samples of the last packet that libav drops because they are encoder delay.
    private(set) var dropped: Int64 = 0

    /// Where the last packet ends by the container's time, if it has one.
    private(set) var packetEnd: Int64?

    /// A clock behind a packet.
    init(position: Int64, behind packet: borrowing Packet) {
        self.position = position
        packetEnd = packet.end
    }

    /// Counts a packet of that many samples, without those that libav drops (`libavcodec/decode.c`).
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
        // Padding longer than what is left is ignored.
        if padding <= rest { rest -= padding }
        position += rest
    }

    /// Passes over samples of which none is dropped.
    mutating func pass(_ samples: Int64) { position += samples }
}

private extension Packet {
    /// The time stamp of what follows.
    var end: Int64? { timestamp.map { $0 + duration } }
}
