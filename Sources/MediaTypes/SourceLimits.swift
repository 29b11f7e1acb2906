/// How much a source may hold: bounds that recordings do not reach, against files that are made to cost more than they weigh.
package struct SourceLimits: Codable, Hashable, Sendable {
    /// Seconds of sound (`RESPOOL_MAX_DURATION`).
    package var seconds = 360_000
    /// Channels of a track (`RESPOOL_MAX_CHANNELS`).
    package var channels = SourceLimits.maxChannels
    /// Hz (`RESPOOL_MAX_SAMPLE_RATE`).
    package var sampleRate = SourceLimits.highestRate
    /// Streams of any kind in a container (`RESPOOL_MAX_TRACKS`).
    package var tracks = 256
    /// Chapters that are carried over (`RESPOOL_MAX_CHAPTERS`).
    package var chapters = 10_000
    /// Bytes of its tags, with the pictures among them (`RESPOOL_MAX_TAG_BYTES`).
    package var tagBytes = 16 << 20
    /// Bytes of one picture (`RESPOOL_MAX_PICTURE_BYTES`).
    package var pictureBytes = 16 << 20
    /// Packets for each second of the sound that comes of them (`RESPOOL_MAX_PACKET_RATE`).
    package var packetRate = 100_000
    /// Bytes of decoded sound for each byte of the source (`RESPOOL_MAX_EXPANSION`).
    package var expansion = 100_000

    /// What the engine can do.
    package static let maxChannels = 64
    /// Four times the highest rate of recording there is.
    package static let highestRate = 1_536_000

    package init() {}
}
