/// The packets of a track that contain a range of its samples, and the samples that they contain outside of it.
package struct PacketSpan {
    /// The index of the first packet, counted from the first audio packet.
    package let first: Int64
    /// The index of the last packet, which belongs to the span.
    package let last: Int64
    /// Decoded samples before the range.
    package let lead: Int64
    /// Samples of the range.
    package let samples: Int64
    /// Decoded samples after the range.
    package let trail: Int64
    /// Whether the range is the whole source.
    package let isWhole: Bool
    /// Whether the requested range extended beyond the source's end.
    package let isShort: Bool
    /// Whether the range begins and ends in the same packet.
    package let isWithinPacket: Bool
    /// The total size of the packets in bytes.
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
