/// Limits of a source. Recordings do not reach them; they protect against files that cost much more than their size.
package struct SourceLimits: Codable, Hashable, Sendable {
    /// Seconds of audio (`RESPOOL_MAX_DURATION`).
    package var seconds = 360_000
    /// Channels of a track (`RESPOOL_MAX_CHANNELS`).
    package var channels = SourceLimits.maxChannels
    /// Hz (`RESPOOL_MAX_SAMPLE_RATE`).
    package var sampleRate = SourceLimits.highestRate
    /// Streams of any kind in a container (`RESPOOL_MAX_TRACKS`).
    package var tracks = 256
    /// Chapters that are copied (`RESPOOL_MAX_CHAPTERS`).
    package var chapters = 10_000
    /// Bytes of tags, including pictures (`RESPOOL_MAX_TAG_BYTES`).
    package var tagBytes = 16 << 20
    /// Bytes of one picture (`RESPOOL_MAX_PICTURE_BYTES`).
    package var pictureBytes = 16 << 20
    /// Packets per second of decoded audio (`RESPOOL_MAX_PACKET_RATE`).
    package var packetRate = 100_000
    /// Bytes of decoded audio per byte of the source (`RESPOOL_MAX_EXPANSION`).
    package var expansion = 100_000

    /// The maximum that the engine supports.
    package static let maxChannels = 64
    /// Four times the highest recording rate in use.
    package static let highestRate = 1_536_000

    package init() {}
}
