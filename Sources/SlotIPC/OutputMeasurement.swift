package import MediaTypes

/// What `respool-transcode` measured of an output; the worker adds the rest of the report.
package struct OutputMeasurement: Codable, Hashable, Sendable {
    /// The codec's name in a job.
    package var codec: String
    /// Seconds.
    package var duration: Double
    /// Hz.
    package var sampleRate: Int
    /// The number of channels.
    package var channels: Int
    /// Bits per second, over the whole file.
    package var bitRate: Int
    /// Whether the output is a stream copy.
    package var copied: Bool
    /// Samples to skip at both ends during playback.
    package var gapless: Gapless
    /// Audio of the source that could not be decoded.
    package var damage: Damage
    /// The effective values, by the names of a job's fields.
    package var settings: [String: String]
    /// Differences of the result from the source or the job's fields.
    package var warnings: [Warning]
    /// The loudness before and after the conversion, if there was a target.
    package var loudness: LoudnessChange?
    /// The MD5 of the samples that the file declares, in hexadecimal, if the codec is FLAC.
    package var audioMD5: String?
    /// How many encoders made the output; `nil` if there can be only one.
    package var encoders: SegmentReport?
    /// The titles of a radio stream.
    package var titles: [TimedTitle] = []

    /// The values that every output has; the others are set afterwards.
    package init(
        codec: String, duration: Double, sampleRate: Int, channels: Int, bitRate: Int, copied: Bool = false,
        gapless: Gapless = Gapless(start: 0, end: 0), damage: Damage = .none, settings: [String: String] = [:],
        warnings: [Warning] = []
    ) {
        self.codec = codec
        self.duration = duration
        self.sampleRate = sampleRate
        self.channels = channels
        self.bitRate = bitRate
        self.copied = copied
        self.gapless = gapless
        self.damage = damage
        self.settings = settings
        self.warnings = warnings
    }
}
