extension AudioFormat {
    package static let all: [AudioFormat] = [
        AudioFormat("mp3", extension: "mp3", mediaType: "audio/mpeg", codecs: ["mp3"], summary: "MPEG layer III"),
        AudioFormat("m4a", extension: "m4a", mediaType: "audio/mp4", codecs: ["aac", "alac"], summary: "MPEG-4 audio"),
        AudioFormat(
            "m4b", extension: "m4b", mediaType: "audio/mp4", codecs: ["aac", "alac"],
            summary: "MPEG-4 audio with the audiobook brand"),
        AudioFormat(
            "alac", extension: "m4a", mediaType: "audio/mp4", codecs: ["alac"], summary: "Apple Lossless in MPEG-4"),
        AudioFormat(
            "mp4", extension: "mp4", mediaType: "audio/mp4",
            codecs: ["aac", "alac", "mp3", "opus", "flac", "ac3", "eac3"], summary: "MPEG-4"),
        AudioFormat(
            "mov", extension: "mov", mediaType: "video/quicktime",
            codecs: ["aac", "alac", "pcm", "ima4", "mp3", "ac3", "eac3"],
            pcmFormats: wide + little + big, summary: "QuickTime"),
        AudioFormat(
            "adts", extension: "aac", mediaType: "audio/aac", codecs: ["aac"], summary: "raw AAC frames (ADTS)"),
        AudioFormat("flac", extension: "flac", mediaType: "audio/flac", codecs: ["flac"], summary: "FLAC"),
        AudioFormat(
            "wav", extension: "wav", mediaType: "audio/wav", codecs: ["pcm", "mp3", "ac3"],
            pcmFormats: wave, summary: "RIFF WAVE; RF64 above 4 GiB"),
        AudioFormat(
            "rf64", extension: "wav", mediaType: "audio/wav", codecs: ["pcm"], pcmFormats: wave,
            summary: "RF64, a WAVE file of any size"),
        AudioFormat(
            "w64", extension: "w64", mediaType: "audio/x-w64", codecs: ["pcm"], pcmFormats: wave, summary: "Sony Wave64"
        ),
        AudioFormat(
            "aiff", extension: "aiff", mediaType: "audio/aiff", codecs: ["pcm"],
            pcmFormats: [.s16, .s8, .s24, .s32, .f32, .f64] + big, byteOrder: .big,
            summary: "AIFF; AIFF-C for floating point"),
        AudioFormat(
            "aifc", extension: "aifc", mediaType: "audio/aiff", codecs: ["pcm"], pcmFormats: wide + big + [.s16le],
            byteOrder: .big, summary: "AIFF-C"),
        AudioFormat(
            "caf", extension: "caf", mediaType: "audio/x-caf", codecs: ["pcm", "alac", "opus", "ima4"],
            pcmFormats: SampleFormat.allCases.filter { $0 != .u8 }, summary: "Core Audio"),
        AudioFormat(
            "au", extension: "au", mediaType: "audio/basic", codecs: ["pcm"],
            pcmFormats: [.s16, .s8, .s24, .s32, .f32, .f64] + big, byteOrder: .big, summary: "Sun and NeXT audio"),
        AudioFormat(
            "ogg", extension: "ogg", mediaType: "audio/ogg", codecs: ["vorbis", "opus", "flac", "speex"],
            summary: "Ogg"),
        AudioFormat("opus", extension: "opus", mediaType: "audio/ogg", codecs: ["opus"], summary: "Opus in Ogg"),
        AudioFormat(
            "oga", extension: "oga", mediaType: "audio/ogg", codecs: ["flac", "vorbis", "opus", "speex"],
            summary: "Ogg audio"),
        AudioFormat("speex", extension: "spx", mediaType: "audio/ogg", codecs: ["speex"], summary: "Speex in Ogg"),
        AudioFormat(
            "mka", extension: "mka", mediaType: "audio/x-matroska",
            codecs: ["flac", "opus", "vorbis", "aac", "mp3", "alac", "wavpack", "pcm", "ac3", "eac3", "mp2"],
            pcmFormats: [.s16, .u8, .s24, .s32, .f32, .f64] + little + [.s16be, .s24be, .s32be], summary: "Matroska"),
        AudioFormat(
            "webm", extension: "webm", mediaType: "audio/webm", codecs: ["opus", "vorbis"], summary: "WebM"),
        AudioFormat("wv", extension: "wv", mediaType: "audio/x-wavpack", codecs: ["wavpack"], summary: "WavPack"),
        AudioFormat("tta", extension: "tta", mediaType: "audio/x-tta", codecs: ["tta"], summary: "True Audio"),
        AudioFormat("ac3", extension: "ac3", mediaType: "audio/ac3", codecs: ["ac3"], summary: "Dolby Digital"),
        AudioFormat(
            "eac3", extension: "eac3", mediaType: "audio/eac3", codecs: ["eac3"], summary: "Dolby Digital Plus"),
        AudioFormat("mp2", extension: "mp2", mediaType: "audio/mpeg", codecs: ["mp2"], summary: "MPEG layer II"),
        AudioFormat("gsm", extension: "gsm", mediaType: "audio/x-gsm", codecs: ["gsm"], summary: "GSM 06.10"),
        AudioFormat(
            "wma", extension: "wma", mediaType: "audio/x-ms-wma", codecs: ["wma"], summary: "Windows Media Audio 2"),
        AudioFormat(
            "raw", extension: "raw", mediaType: "application/octet-stream", codecs: ["pcm"],
            pcmFormats: SampleFormat.allCases, summary: "samples without a header"),
        AudioFormat(
            "hls", extension: "m3u8", mediaType: "application/vnd.apple.mpegurl",
            codecs: ["aac", "mp3", "alac", "flac", "opus", "ac3", "eac3"],
            summary: "HTTP Live Streaming: playlists, and segments of MPEG-4 or MPEG-2 TS"),
        AudioFormat(
            "peaks", extension: "json", mediaType: "application/json", codecs: ["pcm"], pcmFormats: [.f32],
            summary: "waveform points in the formats of audiowaveform, .json or .dat"),
        AudioFormat(
            "png", extension: "png", mediaType: "image/png", codecs: ["pcm"], pcmFormats: [.f32],
            summary: "a picture of the waveform"),
        AudioFormat(
            "spectrogram", extension: "png", mediaType: "image/png", codecs: ["pcm"], pcmFormats: [.f32],
            summary: "a picture of the frequencies over time"),
    ]

    private static let wide: [SampleFormat] = [.s16, .s24, .s32, .f32, .f64]
    private static let little: [SampleFormat] = [.s16le, .s24le, .s32le, .f32le, .f64le]
    private static let big: [SampleFormat] = [.s16be, .s24be, .s32be, .f32be, .f64be]
    private static let wave = [.s16, .u8, .s24, .s32, .f32, .f64] + little
}
