/// The packets of a track that hold a range of its samples, and what they decode to beside it.
package struct PacketSpan {
    /// Their numbers, counted from the first packet that is audio.
    package let first: Int64
    package let last: Int64
    /// Samples that they decode to before the range.
    package let lead: Int64
    /// Samples of the range.
    package let samples: Int64
    /// Samples that they decode to after the range.
    package let trail: Int64
    /// Whether the range is all that the source gives.
    package let isWhole: Bool
    /// Whether the range would have reached beyond the source's end.
    package let isShort: Bool
    /// Whether the range begins and ends in the same packet.
    package let isWithinPacket: Bool
    /// Bytes of the packets.
    package let bytes: Int64

    package init(
        first: Int64, last: Int64, lead: Int64, samples: Int64, trail: Int64, isWhole: Bool, isShort: Bool,
        isWithinPacket: Bool, bytes: Int64
    ) {
        self.first = first
        self.last = last
        self.lead = lead
        self.samples = samples
        self.trail = trail
        self.isWhole = isWhole
        self.isShort = isShort
        self.isWithinPacket = isWithinPacket
        self.bytes = bytes
    }
}
