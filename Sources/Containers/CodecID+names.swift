extension CodecID {
    /// libav's names of the codec. Names that a family's prefix covers are not listed.
    package var names: [String] {
        switch self {
        case .aac: ["aac"]
        case .ac3: ["ac3"]
        case .alac: ["alac"]
        case .ape: ["ape"]
        case .dts: ["dts"]
        case .eac3: ["eac3"]
        case .flac: ["flac"]
        case .mp1: ["mp1"]
        case .mp2: ["mp2"]
        case .mp3: ["mp3"]
        case .opus: ["opus"]
        case .tak: ["tak"]
        case .trueAudio: ["tta"]
        case .vorbis: ["vorbis"]
        case .wavPack: ["wavpack"]
        case .g722: ["adpcm_g722"]
        case .g726: ["adpcm_g726"]
        case .gsm: ["gsm"]
        case .gsmMicrosoft: ["gsm_ms"]
        case .imaWave: ["adpcm_ima_wav"]
        case .microsoft: ["adpcm_ms"]
        case .speex: ["speex"]
        case .adpcm, .dsd, .pcm: []
        case .generic: Self.music + Self.speech + Self.games
        }
    }

    /// libav's decoder of Opus that is the reference's.
    package static let referenceOpus = "libopus"

    /// The prefixes of libav's names of all members of a family.
    static let families: KeyValuePairs<String, CodecID> = ["pcm_": .pcm, "adpcm_": .adpcm, "dsd_": .dsd]

    /// Music and video.
    private static let music = [
        "aac_latm", "cook", "dst", "dvaudio", "mlp", "mp3adu", "mp3on4", "mp4als", "musepack7", "musepack8", "ralf",
        "s302m", "shorten", "truehd", "twinvq", "metasound", "wmalossless", "wmapro", "wmav1", "wmav2", "xma1", "xma2",
        "atrac1", "atrac3", "atrac3al", "atrac3p", "atrac3pal", "atrac9", "dolby_e", "qdm2", "qdmc", "mace3", "mace6",
        "8svx_exp", "8svx_fib", "sonic",
    ]

    /// Speech and telephony.
    private static let speech = [
        "acelp.kelvin", "amr_nb", "amr_wb", "aptx", "aptx_hd", "codec2", "dfpwm", "dss_sp", "evrc", "g723_1", "g729",
        "ilbc", "msnsiren", "nellymoser", "qcelp", "ra_144", "ra_288", "sbc", "sipr", "siren", "truespeech",
        "wmavoice", "imc", "iac",
    ]

    /// Games.
    private static let games = [
        "avc", "binkaudio_dct", "binkaudio_rdft", "derf_dpcm", "dsicinaudio", "fastaudio", "gremlin_dpcm", "hca",
        "hcom", "interplay_dpcm", "interplayacm", "paf_audio", "roq_dpcm", "sdx2_dpcm", "smackaudio", "sol_dpcm",
        "vmdaudio", "westwood_snd1", "xan_dpcm", "bmv_audio",
    ]
}
