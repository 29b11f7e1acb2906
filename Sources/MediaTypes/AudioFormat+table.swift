extension AudioFormat {
    /// The table of formats, with one row each.
    static func row(_ id: ID) -> AudioFormat {
        switch id {
        case .mp3:
            AudioFormat(
                id, extension: "mp3", others: [], mediaType: "audio/mpeg", .sound, codecs: [.mp3], limits: [:],
                pcm: .none,
                OutputContainer(
                    muxer: .named("mp3"), options: [("id3v2_version", "0")], demuxer: "mp3", tags: .id3Ahead,
                    gapless: .lameTag, holdsSeveralTracks: false, length: .within(4 * 1152),
                    check: .packets(headerBytes: 0), completion: .none, maxBytes: .max),
                summary: "MPEG layer III")
        case .m4a:
            AudioFormat(
                id, extension: "m4a", others: [], mediaType: "audio/mp4", .sound, codecs: [.aac, .alac], limits: [:],
                pcm: .none, .movie("ipod", []), summary: "MPEG-4 audio")
        case .m4b:
            AudioFormat(
                id, extension: "m4b", others: [], mediaType: "audio/mp4", .sound, codecs: [.aac, .alac], limits: [:],
                pcm: .none, .movie("ipod", [("brand", "M4B ")]), summary: "MPEG-4 audio with the audiobook brand")
        case .alac:
            AudioFormat(
                id, extension: "m4a", others: [], mediaType: "audio/mp4", .sound, codecs: [.alac], limits: [:],
                pcm: .none, .movie("ipod", []), summary: "Apple Lossless in MPEG-4")
        case .mp4:
            AudioFormat(
                id, extension: "mp4", others: [], mediaType: "audio/mp4", .sound,
                codecs: [.aac, .alac, .mp3, .opus, .flac, .ac3, .eac3],
                limits: [.mp3: .withoutMPEG25, .opus: .opusAt48kHz, .flac: .flacWithoutMask], pcm: .none,
                // libav treats FLAC in MPEG-4 as experimental.
                .movie("mp4", [("strict", "experimental")]), summary: "MPEG-4")
        case .mov:
            AudioFormat(
                id, extension: "mov", others: ["qt"], mediaType: "video/quicktime", .sound,
                codecs: [.aac, .alac, .pcm, .ima4, .mp3, .ac3, .eac3], limits: [.mp3: .withoutMPEG25],
                pcm: PCM(formats: wide + little + big, byteOrder: .little, tags: [:]),
                OutputContainer(
                    muxer: .named("mov"), options: [], demuxer: nil, tags: .movie(isQuickTime: true),
                    gapless: .editList, holdsSeveralTracks: true, length: .exact, check: .packets(headerBytes: 0),
                    completion: .onlySample, maxBytes: .max),
                summary: "QuickTime")
        case .adts:
            AudioFormat(
                id, extension: "aac", others: [], mediaType: "audio/aac", .sound, codecs: [.aac], limits: [:],
                pcm: .none, .frames("adts", demuxer: "aac", tags: .id3Ahead, headerBytes: 7),
                summary: "raw AAC frames (ADTS)")
        case .flac:
            AudioFormat(
                id, extension: "flac", others: [], mediaType: "audio/flac", .sound, codecs: [.flac], limits: [:],
                pcm: .none,
                OutputContainer(
                    muxer: .named("flac"), options: [], demuxer: nil, tags: .flacBlocks, gapless: .none,
                    holdsSeveralTracks: false, length: .exact, check: .flacFrames, completion: .none, maxBytes: .max),
                summary: "FLAC")
        case .wav:
            AudioFormat(
                id, extension: "wav", others: ["wave"], mediaType: "audio/wav", .sound, codecs: [.pcm, .mp3, .ac3],
                limits: [:], pcm: wave, .wave("wav", [("rf64", "auto")]), summary: "RIFF WAVE; RF64 above 4 GiB")
        case .rf64:
            AudioFormat(
                id, extension: "wav", others: [], mediaType: "audio/wav", .sound, codecs: [.pcm], limits: [:],
                pcm: wave, .wave("wav", [("rf64", "always")]), summary: "RF64, a WAVE file of any size")
        case .w64:
            AudioFormat(
                id, extension: "w64", others: [], mediaType: "audio/x-w64", .sound, codecs: [.pcm], limits: [:],
                pcm: wave,
                // Wave64 defines a list of tags as well. But libsndfile plays everything after the start of the audio, and libav
                // cannot reserve space before it. libav's reader rounds the size of the last chunk up to eight bytes.
                OutputContainer(
                    muxer: .named("w64"), options: [], demuxer: nil, tags: .none, gapless: .none,
                    holdsSeveralTracks: false, length: .within(7), check: .packets(headerBytes: 0),
                    completion: .wave64, maxBytes: .max),
                summary: "Sony Wave64")
        case .aiff:
            AudioFormat(
                id, extension: "aiff", others: ["aif"], mediaType: "audio/aiff", .sound, codecs: [.pcm], limits: [:],
                pcm: PCM(formats: narrow + big, byteOrder: .big, tags: [:]),
                .bigEndian("aiff", tags: .aiffChunk), summary: "AIFF; AIFF-C for floating point")
        case .aifc:
            AudioFormat(
                id, extension: "aifc", others: [], mediaType: "audio/aiff", .sound, codecs: [.pcm], limits: [:],
                pcm: PCM(
                    formats: wide + big + [.s16le], byteOrder: .big,
                    tags: [.s16: "twos", .s24: "in24", .s32: "in32"]),
                .bigEndian("aiff", tags: .aiffChunk), summary: "AIFF-C")
        case .caf:
            AudioFormat(
                id, extension: "caf", others: [], mediaType: "audio/x-caf", .sound,
                codecs: [.pcm, .alac, .opus, .ima4], limits: [.opus: .opusInCoreAudio],
                pcm: PCM(formats: SampleFormat.allCases.filter { $0 != .u8 }, byteOrder: .little, tags: [:]),
                OutputContainer(
                    muxer: .named("caf"), options: [], demuxer: nil,
                    tags: .dictionary(.init(names: nil, takesPictures: false, takesChapters: false)), gapless: .none,
                    holdsSeveralTracks: false, length: .packets(4096), check: .packets(headerBytes: 0),
                    completion: .packetTable, maxBytes: .max),
                summary: "Core Audio")
        case .au:
            AudioFormat(
                id, extension: "au", others: ["snd"], mediaType: "audio/basic", .sound, codecs: [.pcm], limits: [:],
                pcm: PCM(formats: narrow + big, byteOrder: .big, tags: [:]),
                .bigEndian(
                    "au",
                    tags: .dictionary(
                        .init(
                            names: ["TITLE", "ARTIST", "ALBUM", "TRACKNUMBER", "GENRE"], takesPictures: false,
                            takesChapters: false))),
                summary: "Sun and NeXT audio")
        case .ogg:
            AudioFormat(
                id, extension: "ogg", others: [], mediaType: "audio/ogg", .sound,
                codecs: [.vorbis, .opus, .flac, .speex], limits: [.flac: .flacWithoutMask], pcm: .none,
                .ogg("ogg"), summary: "Ogg")
        case .opus:
            AudioFormat(
                id, extension: "opus", others: [], mediaType: "audio/ogg", .sound, codecs: [.opus], limits: [:],
                pcm: .none, .ogg("opus"), summary: "Opus in Ogg")
        case .oga:
            AudioFormat(
                id, extension: "oga", others: [], mediaType: "audio/ogg", .sound,
                codecs: [.flac, .vorbis, .opus, .speex], limits: [.flac: .flacWithoutMask], pcm: .none, .ogg("oga"),
                summary: "Ogg audio")
        case .speex:
            AudioFormat(
                id, extension: "spx", others: [], mediaType: "audio/ogg", .sound, codecs: [.speex], limits: [:],
                pcm: .none, .ogg("spx"), summary: "Speex in Ogg")
        case .mka:
            AudioFormat(
                id, extension: "mka", others: [], mediaType: "audio/x-matroska", .sound,
                codecs: [.flac, .opus, .vorbis, .aac, .mp3, .alac, .wavpack, .pcm, .ac3, .eac3, .mp2],
                limits: [.wavpack: .uncopied],
                pcm: PCM(
                    formats: [.s16, .u8, .s24, .s32, .f32, .f64] + little + [.s16be, .s24be, .s32be],
                    byteOrder: .little, tags: [:]),
                .matroska("matroska", takesPictures: true), summary: "Matroska")
        case .webm:
            AudioFormat(
                id, extension: "webm", others: [], mediaType: "audio/webm", .sound, codecs: [.opus, .vorbis],
                limits: [:], pcm: .none, .matroska("webm", takesPictures: false), summary: "WebM")
        case .wv:
            AudioFormat(
                id, extension: "wv", others: [], mediaType: "audio/x-wavpack", .sound, codecs: [.wavpack], limits: [:],
                pcm: .none, .counted("wv"), summary: "WavPack")
        case .tta:
            AudioFormat(
                id, extension: "tta", others: [], mediaType: "audio/x-tta", .sound, codecs: [.tta], limits: [:],
                pcm: .none, .counted("tta"), summary: "True Audio")
        case .ac3:
            AudioFormat(
                id, extension: "ac3", others: [], mediaType: "audio/ac3", .sound, codecs: [.ac3], limits: [:],
                pcm: .none, .frames("ac3", demuxer: "ac3", tags: .none, headerBytes: 0), summary: "Dolby Digital")
        case .eac3:
            AudioFormat(
                id, extension: "eac3", others: [], mediaType: "audio/eac3", .sound, codecs: [.eac3], limits: [:],
                pcm: .none, .frames("eac3", demuxer: "eac3", tags: .none, headerBytes: 0),
                summary: "Dolby Digital Plus")
        case .mp2:
            AudioFormat(
                id, extension: "mp2", others: [], mediaType: "audio/mpeg", .sound, codecs: [.mp2], limits: [:],
                pcm: .none, .frames("mp2", demuxer: "mp3", tags: .id3Ahead, headerBytes: 0), summary: "MPEG layer II")
        case .gsm:
            AudioFormat(
                id, extension: "gsm", others: [], mediaType: "audio/x-gsm", .sound, codecs: [.gsm], limits: [:],
                pcm: .none, .frames("gsm", demuxer: "gsm", tags: .none, headerBytes: 0), summary: "GSM 06.10")
        case .wma:
            AudioFormat(
                id, extension: "wma", others: [], mediaType: "audio/x-ms-wma", .sound, codecs: [.wma], limits: [:],
                pcm: .none, .frames("asf", demuxer: nil, tags: .asfHeader, headerBytes: 0),
                summary: "Windows Media Audio 2")
        case .raw:
            AudioFormat(
                id, extension: "raw", others: [], mediaType: "application/octet-stream", .sound, codecs: [.pcm],
                limits: [:], pcm: PCM(formats: SampleFormat.allCases, byteOrder: .little, tags: [:]),
                .ofOwn(.ofSamples, tags: .none), summary: "samples without a header")
        case .hls:
            AudioFormat(
                id, extension: "m3u8", others: [], mediaType: "application/vnd.apple.mpegurl", .segments,
                codecs: [.aac, .mp3, .alac, .flac, .opus, .ac3, .eac3],
                limits: [.opus: .opusAt48kHz, .flac: .flacWithoutMask], pcm: .none, .ofOwn(.none, tags: .timedID3),
                summary: "HTTP Live Streaming: playlists, and segments of MPEG-4 or MPEG-2 TS")
        case .peaks:
            AudioFormat(
                id, extension: "json", others: ["dat"], mediaType: "application/json", .picture(.peaks),
                codecs: [.pcm], limits: [:], pcm: floats, .ofOwn(.none, tags: .none),
                summary: "waveform points in the formats of audiowaveform, .json or .dat")
        case .png:
            AudioFormat(
                id, extension: "png", others: [], mediaType: "image/png", .picture(.waveform), codecs: [.pcm],
                limits: [:], pcm: floats, .ofOwn(.none, tags: .none), summary: "a picture of the waveform")
        case .spectrogram:
            AudioFormat(
                id, extension: "png", others: [], mediaType: "image/png", .picture(.spectrogram), codecs: [.pcm],
                limits: [:], pcm: floats, .ofOwn(.none, tags: .none),
                summary: "a picture of the frequencies over time")
        }
    }

    private static let narrow: [SampleFormat] = [.s16, .s8, .s24, .s32, .f32, .f64]
    private static let wide: [SampleFormat] = [.s16, .s24, .s32, .f32, .f64]
    private static let little: [SampleFormat] = [.s16le, .s24le, .s32le, .f32le, .f64le]
    private static let big: [SampleFormat] = [.s16be, .s24be, .s32be, .f32be, .f64be]
    private static let wave = PCM(
        formats: [.s16, .u8, .s24, .s32, .f32, .f64] + little, byteOrder: .little, tags: [:])
    private static let floats = PCM(formats: [.f32], byteOrder: .little, tags: [:])
}

extension AudioFormat.Picture {
    /// The name in the `codec` field of an output.
    package var codecName: String {
        switch self {
        case .peaks: "peaks"
        case .waveform, .spectrogram: "png"
        }
    }
}

extension SegmentSettings.Container {
    /// libav's name of the muxer and of the demuxer.
    package var libavName: String {
        switch self {
        case .fmp4: "mp4"
        case .mpegts: "mpegts"
        }
    }
}
