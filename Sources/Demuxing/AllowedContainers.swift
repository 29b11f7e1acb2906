import CLibav

/// The containers that may be opened, by libav's names: those of audio, and those of films that hold it.
///
/// All others are refused: what names other files, runs scripts or reads devices, pictures, texts and bare video.
enum AllowedContainers {
    /// The list as `AVFormatContext.format_whitelist` wants it.
    static let whitelist = names.sorted().joined(separator: ",")

    static func allows(_ name: String) -> Bool { names.contains(name) }

    /// Whether the bytes are a list of other places rather than media.
    static func isPlaylist(_ name: String) -> Bool {
        ["concat", "hls", "dash", "imf", "webm_dash_manifest", "sdp"].contains(name)
    }

    static let names: Set<String> = music.union(films).union(speech).union(studio).union(games)

    /// Files of music.
    private static let music: Set = [
        "aa", "aac", "aax", "ac3", "act", "aiff", "ape", "asf", "asf_o", "ast", "au", "caf", "dsf", "dts", "dtshd",
        "eac3", "flac", "iff", "ilbc", "kvag", "loas", "mlp", "mmf", "mp3", "mpc", "mpc8", "ogg", "oma", "rm",
        "shn", "tak", "truehd", "tta", "voc", "vqf", "w64", "wav", "wsd", "wv", "wve", "xwma",
    ]

    /// Films, whose sound is read.
    private static let films: Set = [
        "avi", "dhav", "dv", "flv", "gxf", "kux", "lvf", "lxf", "matroska,webm", "mov,mp4,m4a,3gp,3g2,mj2", "mpeg",
        "mpegts", "mtv", "mxf", "nsv", "nut", "nuv", "pmp", "pva", "rpl", "swf", "ty", "vividas", "wtv",
    ]

    /// Speech and telephony.
    private static let speech: Set = [
        "amr", "amrnb", "amrwb", "avr", "codec2", "dss", "g729", "gsm", "ircam", "nistsphere", "paf", "pvf", "qcp",
        "sbc", "sds", "sln", "sox",
    ]

    /// Samplers, trackers' samples and broadcast wires.
    private static let studio: Set = [
        "aea", "aptx", "aptx_hd", "daud", "epaf", "s337m", "sdr2", "spdif", "svs", "svag", "xvag",
    ]

    /// Sound of games and their films.
    private static let games: Set = [
        "3dostr", "4xm", "ace", "acm", "adp", "ads", "adx", "afc", "aix", "alp", "apc", "apm", "argo_asf", "argo_brp",
        "argo_cvg", "bfstm", "bink", "binka", "boa", "brstm", "derf", "dcstr", "ea", "ea_cdata", "film_cpk",
        "fsb", "fwse", "genh", "hca", "hcom", "ifv", "iss", "luodat", "mca", "mods", "moflex", "msf", "msp",
        "mtaf", "musx", "nsp", "pp_bnk", "psxstr", "redspark", "roq", "rsd", "rso", "scd", "siff",
        "simbiosis_imx", "smjpeg", "smk", "smush", "sol", "thp", "vag", "vmd", "vpk", "wc3movie",
        "wsaud", "wsvqa", "xa", "xmv",
    ]
}
