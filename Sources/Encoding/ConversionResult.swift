package import Filters
package import Libav
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
    /// The MD5 of the samples in hexadecimal digits: the one that a FLAC file declares, or else the source's, once checked.
    package var audioMD5: String?
    /// Decibels by which the decoded true peak exceeds the ceiling; no part of the report.
    package var excess: Double?

    enum CodingKeys: String, CodingKey {
        case format, codec, duration, seconds, samples, channels, bytes, gapless, damage, settings, warnings, titles,
            copied, loudness
        case sampleRate = "sample_rate"
        case bitRate = "bit_rate"
        case audioMD5 = "audio_md5"
    }
}

extension ConversionResult {
    /// What was made with settings, at another rate where it says so; what the sound chain used and warns of is added.
    package init(
        _ encoding: EncodingSettings, rate: Int? = nil, samples: Int64, bytes: Int64, gapless: Gapless,
        sound: AudioFilterChain? = nil, effective: [String: Setting], warnings: [Warning]
    ) {
        let rate = rate ?? encoding.shape.rate
        duration = MediaTime(sample: samples, rate: rate)
        seconds = duration.seconds
        // A result without a sample has no rate: the quotient would be no number that an integer holds.
        bitRate = samples > 0 ? Int((Double(bytes) * 8 / seconds).rounded()) : 0
        (format, codec) = (encoding.format.name, encoding.codec.name)
        (sampleRate, channels) = (rate, encoding.shape.channels)
        (self.samples, self.bytes, self.gapless) = (samples, bytes, gapless)
        damage = .none
        settings = effective.merging(sound?.effective ?? [:]) { $1 }
        self.warnings = warnings + (sound?.warnings ?? [])
        loudness = sound?.loudness
    }

    /// The same with how much of the source's dynamic range compression was applied, if it carries any.
    package func with(compression: Setting?) -> ConversionResult {
        guard !copied, let compression else { return self }
        var result = self
        result.settings["drc"] = compression
        return result
    }

    /// The same with the MD5 of the source's samples, where the file declares none of its own.
    package func with(sourceMD5: String?) -> ConversionResult {
        guard !copied, audioMD5 == nil else { return self }
        var result = self
        result.audioMD5 = sourceMD5
        return result
    }
}
