import Libav

/// What a start before a range keeps of the packets that it passes over.
struct HeldPackets: ~Copyable {
    /// Packets that were read and not yet decoded; their time stamps count samples.
    var ring = PacketRing()
    /// The headers of the link of chained Vorbis that those packets are of, if it is not the first.
    var link = PacketRing()
    /// By how much time stamps are ahead of the count of samples, where they must agree with it.
    var granuleShift: Int64?
    /// Padding at the end that libav no longer finds.
    var endTrim: EndTrim?
    /// Whether the packet in hand was held, and so tells samples and not the container's time.
    private(set) var isInHand = false

    /// Moves the first packet out; false if there is none.
    mutating func takeFirst(into packet: borrowing Packet) -> Bool {
        isInHand = ring.takeFirst(into: packet)
        return isInHand
    }
}
