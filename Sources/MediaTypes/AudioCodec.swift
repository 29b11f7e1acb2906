/// A codec that respool writes, and what its encoder takes.
package struct AudioCodec: Sendable {
    /// The name that a job uses.
    package let name: String
    package let kind: Kind
    /// Sample rates in Hz that the encoder takes; nothing if it takes any up to `highestSampleRate`.
    package let sampleRates: [Int]?
    package let lowestSampleRate: Int
    package let highestSampleRate: Int
    package let maxChannels: Int
    /// Channel layouts that it stores, the usual one of each number of channels first; nothing if it stores any.
    package let layouts: [String]?
    /// Bits a second, over all channels.
    package let bitRates: ClosedRange<Int>?
    /// The only bit rates there are, where the codec has a fixed list.
    package let bitRateSteps: [Int]?
    /// The VBR scale; its direction is the codec's own (`0` is best for MP3, `10` is best for Vorbis).
    package let qualities: ClosedRange<Double>?
    /// Sample formats that a job may ask for.
    package let sampleFormats: [SampleFormat]

    /// What the codec does to samples.
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

    /// Whether the encoder takes a sample rate in Hz as it is.
    package func takes(sampleRate: Int) -> Bool {
        if let sampleRates { return sampleRates.contains(sampleRate) }
        guard (lowestSampleRate...highestSampleRate).contains(sampleRate) else { return false }
        // A FLAC frame header holds 16 bits of Hz or of tens of Hz (RFC 9639), and libavcodec leaves the last of each out.
        return name != "flac" || sampleRate < 65_535 || sampleRate.isMultiple(of: 10)
    }

    /// The numbers of channels that it takes.
    package var channelCounts: [Int] {
        (1...maxChannels).filter { count in
            layouts?.contains { ChannelLayoutName.channels(of: $0) == count } ?? true
        }
    }

    /// The codec with that name.
    package static func named(_ name: String) -> AudioCodec? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
