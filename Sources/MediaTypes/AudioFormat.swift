/// A format that a job may ask for: a container, or a well-known pairing of container and codec.
package struct AudioFormat: Sendable {
    /// The name that a job uses.
    package let name: String
    package let fileExtension: String
    package let mediaType: String
    /// Names of the codecs that it takes; the first is the usual one.
    package let codecs: [String]
    /// Sample formats of raw PCM in this container; the first is the usual one.
    package let pcmFormats: [SampleFormat]
    /// The order of a PCM sample's bytes where the job leaves it open.
    package let byteOrder: SampleFormat.ByteOrder
    package let summary: String

    init(
        _ name: String, extension fileExtension: String, mediaType: String, codecs: [String],
        pcmFormats: [SampleFormat] = [], byteOrder: SampleFormat.ByteOrder = .little, summary: String
    ) {
        self.name = name
        self.fileExtension = fileExtension
        self.mediaType = mediaType
        self.codecs = codecs
        self.pcmFormats = pcmFormats
        self.byteOrder = byteOrder
        self.summary = summary
    }

    /// The sample rates in Hz that a codec takes in this container; nothing if it takes any of its span.
    package func sampleRates(of codec: AudioCodec) -> [Int]? {
        switch (name, codec.name) {
        // These count Opus in the rate of its header, and the decoder gives 48 kHz.
        case ("caf", "opus"), ("mp4", "opus"), ("hls", "opus"): [48_000]
        // MPEG-4 has no MPEG-2.5 (ISO 14496-3).
        case ("mp4", "mp3"), ("mov", "mp3"): codec.sampleRates?.filter { $0 >= 16_000 }
        default: codec.sampleRates
        }
    }

    /// Whether a codec takes a sample rate in Hz in this container.
    package func takes(sampleRate: Int, of codec: AudioCodec) -> Bool {
        sampleRates(of: codec)?.contains(sampleRate) ?? codec.takes(sampleRate: sampleRate)
    }

    /// The layouts of a codec that it tells of, the usual one of each number of channels first; nothing if it tells of any.
    package func layouts(of codec: AudioCodec) -> [String]? {
        // Elsewhere libav writes no mask of FLAC's channels, or reads none.
        codec.name == "flac" && !["flac", "mka"].contains(name) ? AudioCodec.xiph : codec.layouts
    }

    /// The numbers of channels that a codec takes in this container.
    package func channelCounts(of codec: AudioCodec) -> [Int] {
        // libavformat writes no channel map into Core Audio's format.
        name == "caf" && codec.name == "opus" ? [1, 2] : codec.channelCounts
    }

    /// The format with that name.
    package static func named(_ name: String) -> AudioFormat? { byName[name] }

    /// For the name of a codec that is no format: which formats hold it. Nothing for other names.
    package static func holding(codec name: String) -> String? {
        let formats = all.filter { $0.codecs.contains(name) }.map(\.name)
        guard !formats.isEmpty else { return nil }
        return "which is a codec: the formats that hold it are \(formats.joined(separator: ", "))"
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Whether a file holds several audio tracks.
    package var holdsSeveralTracks: Bool { ["m4a", "m4b", "alac", "mp4", "mov", "mka", "webm"].contains(name) }

    /// Whether a result is many files, named after its main one.
    package var isSegmented: Bool { name == "hls" }
}
