package import Lifecycle
package import MediaTypes

/// What a source is.
package struct Probe: Codable, Hashable, Sendable {
    /// libav's name of the container.
    package var format: String
    /// The audio's length, if the source tells.
    package var duration: MediaTime?
    /// Seconds, for display.
    package var seconds: Double?
    /// Whether the duration is only a guess from the bit rate.
    package var estimated: Bool
    /// Bits a second, over the whole file.
    package var bitRate: Int?
    package var bytes: Int64
    /// The audio tracks.
    package var tracks: [Track]
    package var tags: [String: String]
    package var chapters: Int

    /// An audio track.
    package struct Track: Codable, Hashable, Sendable {
        /// The stream's place in the container.
        package var index: Int
        package var codec: String
        /// Hz.
        package var sampleRate: Int
        package var channels: Int
        package var channelLayout: String
        /// How the decoder gives samples, as libav names it.
        package var sampleFormat: String?
        /// Bits of a sample that carry something, where the codec tells.
        package var bits: Int?
        package var bitRate: Int?
        package var duration: MediaTime?
        package var language: String?
        /// Whether a player takes it by default.
        package var isDefault: Bool

        enum CodingKeys: String, CodingKey {
            case index, codec, channels, bits, duration, language
            case sampleRate = "sample_rate"
            case channelLayout = "channel_layout"
            case sampleFormat = "sample_format"
            case bitRate = "bit_rate"
            case isDefault = "default"
        }
    }

    enum CodingKeys: String, CodingKey {
        case format, duration, seconds, estimated, bytes, tracks, tags, chapters
        case bitRate = "bit_rate"
    }

    /// Opens a source and says what it is.
    package static func of(_ source: any ByteSource, stop: StopFlag) throws(MediaError) -> Probe {
        throw MediaError(.internal, "probe", "probing is not written yet")
    }
}
