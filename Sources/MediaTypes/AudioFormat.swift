/// A format that a job may request: a container, or a common combination of container and codec.
package struct AudioFormat: Sendable {
    /// The name in a job.
    package let name: String
    /// The file name extension, without a dot.
    package let fileExtension: String
    /// The MIME type.
    package let mediaType: String
    /// Names of the supported codecs. The first is the default.
    package let codecs: [String]
    /// Sample formats of raw PCM in this container. The first is the default.
    package let pcmFormats: [SampleFormat]
    /// The byte order of PCM samples if the job does not specify one.
    package let byteOrder: SampleFormat.ByteOrder
    /// A short description, for listings.
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

    /// The sample rates in Hz that a codec supports in this container; `nil` if it supports its whole range.
    package func sampleRates(of codec: AudioCodec) -> [Int]? {
        switch (name, codec.name) {
        // In these containers the timestamps of Opus use the rate of its header, but the decoder always outputs 48 kHz.
        case ("caf", "opus"), ("mp4", "opus"), ("hls", "opus"): [48_000]
        // MPEG-4 does not support MPEG-2.5 (ISO 14496-3).
        case ("mp4", "mp3"), ("mov", "mp3"): codec.sampleRates?.filter { $0 >= 16_000 }
        default: codec.sampleRates
        }
    }

    /// Whether a codec supports a sample rate in Hz in this container.
    package func takes(sampleRate: Int, of codec: AudioCodec) -> Bool {
        sampleRates(of: codec)?.contains(sampleRate) ?? codec.takes(sampleRate: sampleRate)
    }

    /// The layouts of a codec that the container can declare, starting with the default one of each channel count; `nil` if it
    /// can declare any.
    package func layouts(of codec: AudioCodec) -> [String]? {
        // In other containers, libav does not write or does not read a channel mask of FLAC.
        codec.name == "flac" && !["flac", "mka"].contains(name) ? AudioCodec.xiph : codec.layouts
    }

    /// The numbers of channels that a codec supports in this container.
    package func channelCounts(of codec: AudioCodec) -> [Int] {
        // libavformat does not write a channel map into Core Audio files.
        name == "caf" && codec.name == "opus" ? [1, 2] : codec.channelCounts
    }

    /// The format with that name.
    package static func named(_ name: String) -> AudioFormat? { byName[name] }

    /// A hint for a codec name that is not a format name: the formats that can contain it. `nil` for other names.
    package static func holding(codec name: String) -> String? {
        let formats = all.filter { $0.codecs.contains(name) }.map(\.name)
        guard !formats.isEmpty else { return nil }
        return "which is a codec: the formats that support it are \(formats.joined(separator: ", "))"
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Whether a file can contain several audio tracks.
    package var holdsSeveralTracks: Bool { ["m4a", "m4b", "alac", "mp4", "mov", "mka", "webm"].contains(name) }

    /// Whether an output consists of many files, named after its main one.
    package var isSegmented: Bool { name == "hls" }
}
