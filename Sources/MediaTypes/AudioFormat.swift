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

    /// The format with that name.
    package static func named(_ name: String) -> AudioFormat? { all.first { $0.name == name } }

    package static let all: [AudioFormat] = [
        AudioFormat("mp3", extension: "mp3", mediaType: "audio/mpeg", codecs: ["mp3"], summary: "MPEG layer III"),
        AudioFormat("m4a", extension: "m4a", mediaType: "audio/mp4", codecs: ["aac", "alac"], summary: "MPEG-4 audio"),
        AudioFormat(
            "alac", extension: "m4a", mediaType: "audio/mp4", codecs: ["alac"], summary: "Apple Lossless in MPEG-4"),
        AudioFormat("flac", extension: "flac", mediaType: "audio/flac", codecs: ["flac"], summary: "FLAC"),
        AudioFormat(
            "wav", extension: "wav", mediaType: "audio/wav", codecs: ["pcm"],
            pcmFormats: [.s16, .u8, .s24, .s32, .f32, .f64, .s16le, .s24le, .s32le, .f32le, .f64le],
            summary: "RIFF WAVE; RF64 above 4 GiB"),
        AudioFormat(
            "aiff", extension: "aiff", mediaType: "audio/aiff", codecs: ["pcm"],
            pcmFormats: [.s16, .s8, .s24, .s32, .f32, .f64, .s16be, .s24be, .s32be, .f32be, .f64be], byteOrder: .big,
            summary: "AIFF; AIFF-C for floating point"),
        AudioFormat(
            "caf", extension: "caf", mediaType: "audio/x-caf", codecs: ["pcm", "alac"],
            pcmFormats: SampleFormat.allCases.filter { $0 != .u8 }, summary: "Core Audio"),
        AudioFormat(
            "ogg", extension: "ogg", mediaType: "audio/ogg", codecs: ["vorbis", "opus", "flac"], summary: "Ogg"),
        AudioFormat("opus", extension: "opus", mediaType: "audio/ogg", codecs: ["opus"], summary: "Opus in Ogg"),
        AudioFormat(
            "hls", extension: "m3u8", mediaType: "application/vnd.apple.mpegurl",
            codecs: ["aac", "mp3", "alac", "flac", "opus"],
            summary: "HTTP Live Streaming: playlists, and segments of MPEG-4 or MPEG-2 TS"),
    ]

    /// Whether a result is many files, named after its main one.
    package var isSegmented: Bool { name == "hls" }
}
