package import Libav
package import MediaTypes

/// The result of one output of a conversion.
package struct ConversionResult: Codable, Hashable, Sendable {
    /// The format's name in a job.
    package var format: String
    /// The codec's name in a job.
    package var codec: String
    /// The exact duration of the audio.
    package var duration: MediaTime
    /// The duration in seconds, for display.
    package var seconds: Double
    /// Samples of each channel, without encoder delay and padding.
    package var samples: Int64
    /// Hz.
    package var sampleRate: Int
    /// The channel count after a mix or a channel map.
    package var channels: Int
    /// Bits a second, over the whole file.
    package var bitRate: Int
    /// The size of the file, or of all variants of an HLS output.
    package var bytes: Int64
    /// Extra samples that a decoder returns at both ends.
    package var gapless: Gapless
    /// Audio of the source that could not be decoded.
    package var damage: Damage
    /// By job field name.
    package var settings: [String: Setting]
    /// Warnings about this output and about the source.
    package var warnings: [Warning]
    /// The titles of a radio stream.
    package var titles: [TimedTitle] = []
    /// Whether the source's packets were copied instead of decoded and encoded.
    package var copied = false
    /// The loudness before and after the change, if a loudness was requested.
    package var loudness: LoudnessChange?
    /// The MD5 of the samples in hexadecimal: the one that a FLAC file declares, or else the source's verified one.
    package var audioMD5: String?
    /// How many encoders made the output; `nil` if there can be only one.
    package var encoders: SegmentReport?
    /// The dB by which the decoded true peak exceeds the ceiling. It is not part of the report.
    package var excess: Double?

    enum CodingKeys: String, CodingKey {
        case format, codec, duration, seconds, samples, channels, bytes, gapless, damage, settings, warnings, titles,
            copied, loudness, encoders
        case sampleRate = "sample_rate"
        case bitRate = "bit_rate"
        case audioMD5 = "audio_md5"
    }
}

extension ConversionResult {
    /// Makes the result of an encoding, at another rate if given.
    package init(
        _ encoding: EncodingSettings, rate: Int? = nil, samples: Int64, bytes: Int64, gapless: Gapless,
        loudness: LoudnessChange? = nil, effective: [String: Setting], warnings: [Warning]
    ) {
        let rate = rate ?? encoding.shape.rate
        duration = MediaTime(sample: samples, rate: rate)
        seconds = duration.seconds
        // An output without samples has no bit rate. The quotient would be infinite.
        bitRate = samples > 0 ? Int((Double(bytes) * 8 / seconds).rounded()) : 0
        (format, codec) = (encoding.format.name, encoding.codec.name)
        (sampleRate, channels) = (rate, encoding.shape.channels)
        (self.samples, self.bytes, self.gapless) = (samples, bytes, gapless)
        damage = .none
        settings = effective
        self.warnings = warnings
        self.loudness = loudness
    }

    /// The same result with the applied dynamic range compression, if the source carries any.
    package func with(compression: Setting?) -> ConversionResult {
        guard !copied, let compression else { return self }
        var result = self
        result.settings["drc"] = compression
        return result
    }

    /// The same result with the MD5 of the source's samples, if the file does not declare one.
    package func with(sourceMD5: String?) -> ConversionResult {
        guard !copied, audioMD5 == nil else { return self }
        var result = self
        result.audioMD5 = sourceMD5
        return result
    }
}
