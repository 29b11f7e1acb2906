/// The packets of a track that hold a range of its samples, and what they decode to beside it.
struct PacketSpan {
    /// Their numbers, counted from the first packet that is audio.
    let first: Int64
    let last: Int64
    /// Samples that they decode to before the range.
    let lead: Int64
    /// Samples of the range.
    let samples: Int64
    /// Samples that they decode to after the range.
    let trail: Int64
    /// Whether the range is all that the source gives.
    let isWhole: Bool
    /// Whether the range would have reached beyond the source's end.
    let isShort: Bool
    /// Whether the range begins and ends in the same packet.
    let isWithinPacket: Bool
    /// Bytes of the packets.
    let bytes: Int64
}
