extension Container {
    /// libav's names of the demuxers that read the container: those of audio, and those of video files with audio.
    ///
    /// All others are rejected: those that open other files, run scripts or read devices, images, text and raw video.
    package var demuxers: [String] {
        switch self {
        case .ac3: ["ac3"]
        case .adts: ["aac"]
        case .dts: ["dts"]
        case .dtsHD: ["dtshd"]
        case .eac3: ["eac3"]
        case .gsm: ["gsm"]
        case .loas: ["loas"]
        case .mlp: ["mlp"]
        case .mp3: ["mp3"]
        case .trueHD: ["truehd"]
        case .ape: ["ape"]
        case .flac: ["flac"]
        case .musepack: ["mpc", "mpc8"]
        case .ogg: ["ogg"]
        case .trueAudio: ["tta"]
        case .wavPack: ["wv"]
        case .aiff: ["aiff"]
        case .caf: ["caf"]
        case .sun: ["au"]
        case .wave: ["wav"]
        case .wave64: ["w64"]
        case .asf: ["asf"]
        case .avi: ["avi"]
        case .flash: ["flv"]
        case .matroska: ["matroska,webm"]
        case .mpegProgram: ["mpeg"]
        case .mpegTransport: ["mpegts"]
        case .mp4: ["mov,mp4,m4a,3gp,3g2,mj2"]
        case .mxf: ["mxf"]
        case .nut: ["nut"]
        case .realMedia: ["rm"]
        case .adx: ["adx"]
        case .apm: ["apm"]
        case .ast: ["ast"]
        case .kvag: ["kvag"]
        case .sox: ["sox"]
        case .generic: Self.music + Self.films + Self.speech + Self.studio + Self.games
        }
    }

    /// Whether libav's demuxer reads a list of other locations instead of media.
    package static func isPlaylist(demuxer name: String) -> Bool {
        ["concat", "hls", "dash", "imf", "webm_dash_manifest", "sdp"].contains(name)
    }

    /// Music files.
    private static let music = [
        "aa", "aax", "act", "asf_o", "dsf", "iff", "ilbc", "mmf", "oma", "shn", "tak", "voc", "vqf", "wsd", "wve",
        "xwma",
    ]

    /// Video files, of which only the audio is read.
    private static let films = [
        "dhav", "dv", "gxf", "kux", "lvf", "lxf", "mtv", "nsv", "nuv", "pmp", "pva", "rpl", "swf", "ty", "vividas",
        "wtv",
    ]

    /// Speech and telephony.
    private static let speech = [
        "amr", "amrnb", "amrwb", "avr", "codec2", "dss", "g729", "ircam", "nistsphere", "paf", "pvf", "qcp", "sbc",
        "sds", "sln",
    ]

    /// Samplers, tracker samples and professional audio interfaces.
    private static let studio = [
        "aea", "aptx", "aptx_hd", "daud", "epaf", "s337m", "sdr2", "spdif", "svs", "svag", "xvag",
    ]

    /// Audio of games and of their videos.
    private static let games = [
        "3dostr", "4xm", "ace", "acm", "adp", "ads", "afc", "aix", "alp", "apc", "argo_asf", "argo_brp", "argo_cvg",
        "bfstm", "bink", "binka", "boa", "brstm", "derf", "dcstr", "ea", "ea_cdata", "film_cpk", "fsb", "fwse", "genh",
        "hca", "hcom", "ifv", "iss", "luodat", "mca", "mods", "moflex", "msf", "msp", "mtaf", "musx", "nsp", "pp_bnk",
        "psxstr", "redspark", "roq", "rsd", "rso", "scd", "siff", "simbiosis_imx", "smjpeg", "smk", "smush", "sol",
        "thp", "vag", "vmd", "vpk", "wc3movie", "wsaud", "wsvqa", "xa", "xmv",
    ]
}
