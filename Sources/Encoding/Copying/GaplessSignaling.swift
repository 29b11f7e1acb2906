import MediaTypes

/// How a container tells players which samples of its first and last packets are not to be heard.
enum GaplessSignaling {
    /// The tag that LAME invented: delay and padding in 12 bits each, over the decoder's own 529 samples.
    case lameTag
    /// An edit list.
    case editList
    /// Matroska's CodecDelay and DiscardPadding.
    case codecDelay
    /// Pre-skip and granule positions of Ogg.
    case granules
    case none

    /// Samples that every decoder of layer III adds.
    private static let decoderDelay: Int64 = 529

    /// Whether that many samples before the range can be hidden.
    func hides(lead: Int64, of codec: String) -> Bool {
        switch self {
        case _ where lead == 0: true
        case .lameTag: (Self.decoderDelay...Self.decoderDelay + 4095).contains(lead)
        case .editList: true
        // libavformat writes CodecDelay for nothing but Opus.
        case .codecDelay, .granules: codec == "opus" && lead <= 65_535
        case .none: false
        }
    }

    /// Whether that many samples after the range can be hidden, behind that many before it.
    func hides(trail: Int64, lead: Int64, of codec: String) -> Bool {
        switch self {
        case _ where trail == 0: true
        // Without a tag, which needs a delay, there is no place for the padding.
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
