/// A codec that respool writes, and what its encoder supports.
package struct AudioCodec: Sendable {
    /// The name in a job, as a case.
    package let id: ID
    /// Whether the codec reproduces samples exactly, and whether it compresses them.
    package let kind: Kind
    /// The supported sample rates in Hz; `nil` if any rate from `lowestSampleRate` to `highestSampleRate` is supported.
    package let sampleRates: [Int]?
    /// Hz.
    package let lowestSampleRate: Int
    /// Hz.
    package let highestSampleRate: Int
    /// The encoder's limit; audio with more channels is mixed down to a supported number.
    package let maxChannels: Int
    /// The supported channel layouts, starting with the default one of each channel count; `nil` if any layout is supported.
    package let layouts: [String]?
    /// Bits a second, over all channels.
    package let bitRates: ClosedRange<Int>?
    /// How the sample rate and the channel count limit them.
    package let bitRateRule: BitRateRule
    /// The only supported bit rates, if the codec has a fixed list.
    package let bitRateSteps: [Int]?
    /// The VBR scale, whose direction depends on the codec (`0` is best for MP3, `10` for Vorbis, `2` for AAC).
    package let qualities: ClosedRange<Double>?
    /// The default VBR quality if the job sets neither quality nor bit rate.
    package let defaultQuality: Double?
    /// The encoder's further settings.
    package let controls: EncoderControls
    /// The sample formats that a job may request.
    package let sampleFormats: [SampleFormat]
    /// libav's encoder.
    package let encoder: EncoderName
    /// The sample format of the encoder's input.
    package let input: EncoderInput
    /// The padding at both ends.
    package let edges: CodecEdges
    /// The packets in a file.
    package let packets: CodecPackets
    /// The metadata that depends on the codec.
    package let words: CodecWords
    /// Whether the encoder lowers the level depending on the bit rate, as LAME does.
    package let lowersLevel: Bool
    /// The sample rate in Hz from which only multiples of 10 are supported; `nil` for no such rule.
    let tensOfHertzFrom: Int?
    /// How several encoders make one stream; `nil` if one encoder makes the whole stream.
    package let joint: EncoderJoint?

    /// The codecs. The raw values are the names in a job.
    package enum ID: String, CaseIterable, Sendable {
        case mp3, aac, alac, flac, vorbis, opus, pcm, wavpack, tta, ac3, eac3, mp2, speex, gsm, ima4, wma
    }

    /// How the codec stores samples.
    package enum Kind: String, Sendable {
        case pcm, lossless, lossy
    }

    /// libav's name of the encoder.
    package enum EncoderName: Sendable {
        case named(String)
        /// The prefix, followed by the name of the sample format.
        case ofSamples(prefix: String)
    }

    /// The sample format of the encoder's input.
    package enum EncoderInput: Sendable {
        case float, short, planarShort
        /// 16 bits if the source has no more and neither the rate nor the channels change, else floating point.
        case shortOrFloat, planarShortOrFloat
        /// 16 bits if the file has them, else 32 bits.
        case shortOrLong, planarShortOrLong
        /// The same, but floating point if the file has it.
        case planarStored
        /// The sample format of the file.
        case stored
    }

    init(
        _ id: ID, _ kind: Kind, sampleRates: [Int]? = nil, lowestSampleRate: Int = 1000,
        highestSampleRate: Int = 384_000, maxChannels: Int, layouts: [String]? = nil,
        bitRates: ClosedRange<Int>? = nil, bitRateRule: BitRateRule, bitRateSteps: [Int]? = nil,
        qualities: ClosedRange<Double>? = nil, defaultQuality: Double?, controls: EncoderControls = .none,
        sampleFormats: [SampleFormat] = [], encoder: EncoderName, input: EncoderInput, edges: CodecEdges,
        packets: CodecPackets, words: CodecWords,
        lowersLevel: Bool, tensOfHertzFrom: Int?, joint: EncoderJoint?
    ) {
        self.id = id
        self.kind = kind
        self.sampleRates = sampleRates
        self.lowestSampleRate = sampleRates?.min() ?? lowestSampleRate
        self.highestSampleRate = sampleRates?.max() ?? highestSampleRate
        self.maxChannels = maxChannels
        self.layouts = layouts
        self.bitRates = bitRates
        self.bitRateRule = bitRateRule
        self.bitRateSteps = bitRateSteps
        self.qualities = qualities
        self.defaultQuality = defaultQuality
        self.controls = controls
        self.sampleFormats = sampleFormats
        self.encoder = encoder
        self.input = input
        self.edges = edges
        self.packets = packets
        self.words = words
        self.lowersLevel = lowersLevel
        self.tensOfHertzFrom = tensOfHertzFrom
        self.joint = joint
    }

    /// The name in a job.
    package var name: String { id.rawValue }

    /// Whether the encoder supports a sample rate in Hz without conversion.
    package func takes(sampleRate: Int) -> Bool {
        if let sampleRates { return sampleRates.contains(sampleRate) }
        guard (lowestSampleRate...highestSampleRate).contains(sampleRate) else { return false }
        return tensOfHertzFrom.map { sampleRate < $0 || sampleRate.isMultiple(of: 10) } ?? true
    }

    /// The supported numbers of channels.
    package var channelCounts: [Int] {
        (1...maxChannels).filter { count in
            layouts?.contains { ChannelLayoutName.channels(of: $0) == count } ?? true
        }
    }

    /// All codecs, in the order of the table.
    package static let all = ID.allCases.map { row($0) }

    /// The codec with that name.
    package static func named(_ name: String) -> AudioCodec? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
