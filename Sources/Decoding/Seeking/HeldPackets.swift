import Libav

/// The packets and state that a late start keeps.
struct HeldPackets: ~Copyable {
    /// Packets that were read but not yet decoded. Their timestamps count samples.
    var ring = PacketRing()
    /// The headers of the current link of chained Vorbis, if it is not the first one.
    var link = PacketRing()
    /// The offset of timestamps from the sample count, if they must agree.
    var granuleShift: Int64?
    /// Whether the current packet was held, so that its timestamp counts samples instead of the container's time.
    private(set) var isInHand = false

    /// Moves the first packet out; returns `false` if there is none.
    mutating func takeFirst(into packet: borrowing Packet) -> Bool {
        isInHand = ring.takeFirst(into: packet)
        return isInHand
    }
}
