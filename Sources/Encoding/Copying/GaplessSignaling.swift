import MediaTypes

/// The way in which a container declares which samples of its first and last packets are not audible.
enum GaplessSignaling {
    /// LAME's tag: delay and padding in 12 bits each, in addition to the decoder's 529 samples.
    case lameTag
    /// An edit list.
    case editList
    /// CodecDelay and DiscardPadding of Matroska.
    case codecDelay
    /// Pre-skip and granule positions of Ogg.
    case granules
    case none

    /// The delay of every layer III decoder, in samples.
    private static let decoderDelay: Int64 = 529

    /// Whether `lead` samples before the range can be hidden.
    func hides(lead: Int64, of codec: String) -> Bool {
        switch self {
        case _ where lead == 0: true
        case .lameTag: (Self.decoderDelay...Self.decoderDelay + 4095).contains(lead)
        case .editList: true
        // libavformat writes CodecDelay only for Opus.
        case .codecDelay, .granules: codec == "opus" && lead <= 65_535
        case .none: false
        }
    }

    /// Whether `trail` samples after the range can be hidden, if `lead` samples before it are hidden.
    func hides(trail: Int64, lead: Int64, of codec: String) -> Bool {
        switch self {
        case _ where trail == 0: true
        // The padding is stored in the tag, which is only written if there is a delay.
        case .lameTag: lead >= Self.decoderDelay && trail <= 4095 - Self.decoderDelay
        case .editList: true
        case .codecDelay: ["opus", "vorbis"].contains(codec)
        case .granules: ["opus", "vorbis"].contains(codec)
        case .none: false
        }
    }

    init(_ format: AudioFormat) {
        switch format.name {
        case "mp3": self = .lameTag
        case "m4a", "m4b", "alac", "mp4", "mov": self = .editList
        case "mka", "webm": self = .codecDelay
        case "ogg", "oga", "opus", "speex": self = .granules
        default: self = .none
        }
    }
}
