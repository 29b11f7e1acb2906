/// A codec that respool writes, and what its encoder supports.
package struct AudioCodec: Sendable {
    /// The name in a job.
    package let name: String
    package let kind: Kind
    /// The supported sample rates in Hz; `nil` if any rate from `lowestSampleRate` to `highestSampleRate` is supported.
    package let sampleRates: [Int]?
    /// Hz.
    package let lowestSampleRate: Int
    /// Hz.
    package let highestSampleRate: Int
    package let maxChannels: Int
    /// The supported channel layouts, starting with the default one of each channel count; `nil` if any layout is supported.
    package let layouts: [String]?
    /// Bits a second, over all channels.
    package let bitRates: ClosedRange<Int>?
    /// The only supported bit rates, if the codec has a fixed list.
    package let bitRateSteps: [Int]?
    /// The VBR scale, whose direction depends on the codec (`0` is best for MP3, `10` for Vorbis).
    package let qualities: ClosedRange<Double>?
    /// The sample formats that a job may request.
    package let sampleFormats: [SampleFormat]

    /// How the codec stores samples.
    package enum Kind: String, Sendable {
        case pcm, lossless, lossy
    }

    init(
        _ name: String, _ kind: Kind, sampleRates: [Int]? = nil, lowestSampleRate: Int = 1000,
        highestSampleRate: Int = 384_000, maxChannels: Int, layouts: [String]? = nil,
        bitRates: ClosedRange<Int>? = nil,
        bitRateSteps: [Int]? = nil, qualities: ClosedRange<Double>? = nil, sampleFormats: [SampleFormat] = []
    ) {
        self.name = name
        self.kind = kind
        self.sampleRates = sampleRates
        self.lowestSampleRate = sampleRates?.min() ?? lowestSampleRate
        self.highestSampleRate = sampleRates?.max() ?? highestSampleRate
        self.maxChannels = maxChannels
        self.layouts = layouts
        self.bitRates = bitRates
        self.bitRateSteps = bitRateSteps
        self.qualities = qualities
        self.sampleFormats = sampleFormats
    }

    /// Whether the encoder supports a sample rate in Hz without conversion.
    package func takes(sampleRate: Int) -> Bool {
        if let sampleRates { return sampleRates.contains(sampleRate) }
        guard (lowestSampleRate...highestSampleRate).contains(sampleRate) else { return false }
        // A FLAC frame header has 16 bits for Hz or tens of Hz (RFC 9639). libavcodec does not use the highest value of either.
        return name != "flac" || sampleRate < 65_535 || sampleRate.isMultiple(of: 10)
    }

    /// The supported numbers of channels.
    package var channelCounts: [Int] {
        (1...maxChannels).filter { count in
            layouts?.contains { ChannelLayoutName.channels(of: $0) == count } ?? true
        }
    }

    /// The codec with that name.
    package static func named(_ name: String) -> AudioCodec? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
