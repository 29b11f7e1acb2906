/// A format that a job may request: a container, or a common combination of container and codec.
package struct AudioFormat: Sendable {
    /// The name in a job, as a case.
    package let id: ID
    /// The file name extension, without a dot.
    package let fileExtension: String
    /// Alternative file extensions.
    let otherExtensions: [String]
    /// The MIME type.
    package let mediaType: String
    /// Audio, segments or a picture.
    package let content: Content
    /// Names of the supported codecs. The first is the default.
    package let codecs: [String]
    let limits: [AudioCodec.ID: CodecLimits]
    private let pcm: PCM
    /// How its files are written.
    package let container: OutputContainer
    /// A short description, for listings.
    package let summary: String

    /// The formats. The raw values are the names in a job.
    package enum ID: String, CaseIterable, Sendable {
        case mp3, m4a, m4b, alac, mp4, mov, adts, flac
        case wav, rf64, w64, aiff, aifc, caf, au
        case ogg, opus, oga, speex, mka, webm
        case wv, tta, ac3, eac3, mp2, gsm, wma, raw
        case hls, peaks, png, spectrogram
    }

    /// What an output consists of.
    package enum Content: Sendable {
        case sound
        /// Many files of audio, named after a main one.
        case segments
        /// A picture or peaks instead of audio.
        case picture(Picture)
    }

    /// The pictures of audio.
    package enum Picture: Sendable, CaseIterable {
        case peaks, waveform, spectrogram
    }

    /// Raw PCM in a container.
    struct PCM: Sendable {
        /// The first is the default.
        let formats: [SampleFormat]
        /// The byte order of samples if the job does not specify one.
        let byteOrder: SampleFormat.ByteOrder
        /// The codec tags of samples in this byte order that differ from libav's default.
        let tags: [SampleFormat: String]

        /// A container without PCM.
        static let none = PCM(formats: [], byteOrder: .little, tags: [:])
    }

    init(
        _ id: ID, extension fileExtension: String, others: [String], mediaType: String, _ content: Content,
        codecs: [AudioCodec.ID], limits: [AudioCodec.ID: CodecLimits], pcm: PCM, _ container: OutputContainer,
        summary: String
    ) {
        self.id = id
        self.fileExtension = fileExtension
        otherExtensions = others
        self.mediaType = mediaType
        self.content = content
        self.codecs = codecs.map(\.rawValue)
        self.limits = limits
        self.pcm = pcm
        self.container = container
        self.summary = summary
    }

    /// The name in a job.
    package var name: String { id.rawValue }

    /// Sample formats of raw PCM in this container. The first is the default.
    package var pcmFormats: [SampleFormat] { pcm.formats }

    /// The byte order of PCM samples if the job does not specify one.
    package var byteOrder: SampleFormat.ByteOrder { pcm.byteOrder }

    /// The codec tag of PCM in the container; `nil` for libav's default.
    package func codecTag(_ stored: SampleFormat?) -> String? {
        guard let stored, stored.byteOrder ?? byteOrder == byteOrder else { return nil }
        return pcm.tags[stored.base]
    }

    /// The sample rates in Hz that a codec supports in this container; `nil` if it supports its whole range.
    package func sampleRates(of codec: AudioCodec) -> [Int]? {
        guard let right = limits[codec.id]?.sampleRates else { return codec.sampleRates }
        return codec.sampleRates?.filter(right.contains)
    }

    /// Whether a codec supports a sample rate in Hz in this container.
    package func takes(sampleRate: Int, of codec: AudioCodec) -> Bool {
        sampleRates(of: codec)?.contains(sampleRate) ?? codec.takes(sampleRate: sampleRate)
    }

    /// The layouts of a codec that the container can declare, starting with the default one of each channel count; `nil` if it
    /// can declare any.
    package func layouts(of codec: AudioCodec) -> [String]? { limits[codec.id]?.layouts ?? codec.layouts }

    /// The numbers of channels that a codec supports in this container.
    package func channelCounts(of codec: AudioCodec) -> [Int] {
        guard let most = limits[codec.id]?.maxChannels else { return codec.channelCounts }
        return codec.channelCounts.filter { $0 <= most }
    }

    /// Whether packets of a codec can be copied into the container.
    package func copies(_ codec: AudioCodec) -> Bool { limits[codec.id]?.isCopied ?? true }
}

extension AudioFormat {
    /// All formats, in the order of the table.
    package static let all = ID.allCases.map { row($0) }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The format with that name.
    package static func named(_ name: String) -> AudioFormat? { byName[name] }

    /// The format of files with an extension, in lower case.
    package static func ofFile(extension ending: String) -> AudioFormat? {
        named(ending) ?? all.first { $0.fileExtension == ending || $0.otherExtensions.contains(ending) }
    }

    /// A hint for a codec name that is not a format name: the formats that can contain it. `nil` for other names.
    package static func holding(codec name: String) -> String? {
        let formats = all.filter { $0.codecs.contains(name) }.map(\.name)
        guard !formats.isEmpty else { return nil }
        return "which is a codec: the formats that support it are \(formats.joined(separator: ", "))"
    }

    /// Whether a file can contain several audio tracks.
    package var holdsSeveralTracks: Bool { container.holdsSeveralTracks }

    /// The format of a stream of segments.
    static let segmented = row(.hls)

    /// Whether an output consists of many files, named after its main one.
    package var isSegmented: Bool { if case .segments = content { true } else { false } }

    /// The kind of picture; `nil` if an output is audio.
    package var picture: Picture? { if case .picture(let picture) = content { picture } else { nil } }

    /// Whether an output is a picture or peaks instead of audio.
    package var isPicture: Bool { picture != nil }
}
