/// A codec that respool writes, and what its encoder takes.
package struct AudioCodec: Sendable {
    /// The name that a job uses.
    package let name: String
    package let kind: Kind
    /// Sample rates in Hz that the encoder takes; nothing if it takes any up to `highestSampleRate`.
    package let sampleRates: [Int]?
    package let lowestSampleRate: Int
    package let highestSampleRate: Int
    package let mostChannels: Int
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
        highestSampleRate: Int = 384_000, mostChannels: Int, bitRates: ClosedRange<Int>? = nil,
        bitRateSteps: [Int]? = nil, qualities: ClosedRange<Double>? = nil, sampleFormats: [SampleFormat] = []
    ) {
        self.name = name
        self.kind = kind
        self.sampleRates = sampleRates
        self.lowestSampleRate = sampleRates?.min() ?? lowestSampleRate
        self.highestSampleRate = sampleRates?.max() ?? highestSampleRate
        self.mostChannels = mostChannels
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

    /// The codec with that name.
    package static func named(_ name: String) -> AudioCodec? { all.first { $0.name == name } }

    package static let all: [AudioCodec] = [
        AudioCodec(
            "mp3", .lossy, sampleRates: [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000], mostChannels: 2,
            bitRates: 8000...320_000,
            bitRateSteps: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320].map {
                $0 * 1000
            },
            qualities: 0...9),
        AudioCodec(
            "aac", .lossy,
            sampleRates: [7350, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000],
            mostChannels: 8, bitRates: 8000...4_608_000),
        AudioCodec("alac", .lossless, mostChannels: 8, sampleFormats: [.s16, .s24]),
        AudioCodec("flac", .lossless, highestSampleRate: 655_340, mostChannels: 8, sampleFormats: [.s16, .s24]),
        AudioCodec(
            "vorbis", .lossy, lowestSampleRate: 8000, highestSampleRate: 192_000, mostChannels: 8,
            bitRates: 8000...2_000_000, qualities: -1...10),
        AudioCodec(
            "opus", .lossy, sampleRates: [8000, 12000, 16000, 24000, 48000], mostChannels: 8, bitRates: 6000...2_048_000
        ),
        AudioCodec("pcm", .pcm, highestSampleRate: 768_000, mostChannels: 64, sampleFormats: SampleFormat.allCases),
    ]
}
