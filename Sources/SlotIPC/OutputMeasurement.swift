package import MediaTypes

/// What `respool-transcode` found out of an output that it wrote; the rest of a report the worker knows by itself.
package struct OutputMeasurement: Codable, Hashable, Sendable {
    package var codec: String
    /// Seconds.
    package var duration: Double
    /// Hz.
    package var sampleRate: Int
    package var channels: Int
    /// Bits a second, over the whole file.
    package var bitRate: Int
    package var copied: Bool
    package var gapless: Gapless
    package var damage: Damage
    /// The values that were used, by their names in a job.
    package var settings: [String: String]
    package var warnings: [Warning]
    package var loudness: LoudnessChange?
    /// The MD5 of the samples that the file declares, in hexadecimal digits, where its codec is FLAC.
    package var audioMD5: String?
    /// Of a radio stream.
    package var titles: [TimedTitle] = []

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
