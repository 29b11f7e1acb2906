/// How a container declares the samples of its first and last packets that players must skip.
package enum GaplessSignaling: Sendable {
    /// LAME's tag: delay and padding in 12 bits each, in addition to the decoder's own 529 samples.
    case lameTag
    /// An edit list.
    case editList
    /// Matroska's CodecDelay and DiscardPadding.
    case codecDelay
    /// Pre-skip and granule positions of Ogg.
    case granules
    case none

    /// The delay of every decoder of layer III, in samples.
    private static let decoderDelay: Int64 = 529

    /// Whether players can be made to skip that many samples before the range.
    package func hides(lead: Int64, of codec: AudioCodec) -> Bool {
        switch self {
        case _ where lead == 0: true
        case .lameTag: (Self.decoderDelay...Self.decoderDelay + 4095).contains(lead)
        case .editList: true
        case .codecDelay, .granules: codec.edges.copied == .both && lead <= 65_535
        case .none: false
        }
    }

    /// Whether players can be made to skip that many samples after the range, given the number before it.
    package func hides(trail: Int64, lead: Int64, of codec: AudioCodec) -> Bool {
        switch self {
        case _ where trail == 0: true
        // The padding is stored in a tag, which requires a delay.
        case .lameTag: lead >= Self.decoderDelay && trail <= 4095 - Self.decoderDelay
        case .editList: true
        case .codecDelay, .granules: codec.edges.copied != .neither
        case .none: false
        }
    }
}
