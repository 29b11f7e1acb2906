package import MediaTypes

/// What a conversion wrote.
package struct ConversionResult: Codable, Hashable, Sendable {
    /// The format's name in a job.
    package var format: String
    /// The codec's name in a job.
    package var codec: String
    /// The exact length of the audio.
    package var duration: MediaTime
    /// The length in seconds, for display.
    package var seconds: Double
    /// Samples of each channel, without encoder delay and padding.
    package var samples: Int64
    /// Hz.
    package var sampleRate: Int
    package var channels: Int
    /// Bits a second, over the whole file.
    package var bitRate: Int
    package var bytes: Int64
    package var gapless: Gapless
    package var damage: Damage
    /// By their names in a job.
    package var settings: [String: Setting]
    package var warnings: [Warning]
    /// Of a radio stream.
    package var titles: [TimedTitle] = []
    /// Whether the packets are the source's own, neither decoded nor encoded.
    package var copied = false
    /// What the loudness was and became, where there was a target for it.
    package var loudness: LoudnessChange?
    /// The MD5 of the samples that the file declares, in hexadecimal digits, where its codec is FLAC.
    package var audioMD5: String?

    enum CodingKeys: String, CodingKey {
        case format, codec, duration, seconds, samples, channels, bytes, gapless, damage, settings, warnings, titles,
            copied, loudness
        case sampleRate = "sample_rate"
        case bitRate = "bit_rate"
        case audioMD5 = "audio_md5"
    }
}
