package import MediaTypes

/// What became of one output; the element of a job's `outputs`.
package struct OutputReport: Codable, Hashable, Sendable {
    package var url: String
    package var format: String
    package var codec: String
    package var bytes: Int64
    /// Seconds.
    package var duration: Double
    /// Hz.
    package var sampleRate: Int
    package var channels: Int
    /// Bits a second, over the whole file.
    package var bitRate: Int
    package var sha256: String
    package var copied: Bool
    package var gapless: Gapless
    package var damage: Damage
    /// By their names in a job.
    package var settings: [String: Setting]
    package var warnings: [Warning]

    package init(
        url: String, format: String, codec: String, bytes: Int64, duration: Double, sampleRate: Int, channels: Int,
        bitRate: Int, sha256: String, copied: Bool, gapless: Gapless, damage: Damage, settings: [String: Setting],
        warnings: [Warning]
    ) {
        self.url = url
        self.format = format
        self.codec = codec
        self.bytes = bytes
        self.duration = duration
        self.sampleRate = sampleRate
        self.channels = channels
        self.bitRate = bitRate
        self.sha256 = sha256
        self.copied = copied
        self.gapless = gapless
        self.damage = damage
        self.settings = settings
        self.warnings = warnings
    }

    private enum CodingKeys: String, CodingKey {
        case url, format, codec, bytes, duration, channels, sha256, copied, gapless, damage, settings, warnings
        case sampleRate = "sample_rate"
        case bitRate = "bit_rate"
    }
}
