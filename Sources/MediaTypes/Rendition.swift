/// What an output shall be; what is left out follows the source.
package struct Rendition: Codable, Hashable, Sendable {
    package var format: String
    package var codec: String?
    /// Bits a second, over all channels.
    package var bitRate: Int?
    /// A value of the codec's own VBR scale.
    package var quality: Double?
    /// Hz.
    package var sampleRate: Int?
    package var channels: Int?
    package var sampleFormat: SampleFormat?

    package init(
        format: String, codec: String? = nil, bitRate: Int? = nil, quality: Double? = nil, sampleRate: Int? = nil,
        channels: Int? = nil, sampleFormat: SampleFormat? = nil
    ) {
        self.format = format
        self.codec = codec
        self.bitRate = bitRate
        self.quality = quality
        self.sampleRate = sampleRate
        self.channels = channels
        self.sampleFormat = sampleFormat
    }
}
