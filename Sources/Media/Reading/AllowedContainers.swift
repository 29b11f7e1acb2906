import CLibav

/// The containers that may be opened: all of libav's but those that name other files, scripts, pictures and devices.
enum AllowedContainers {
    /// The list as `AVFormatContext.format_whitelist` wants it.
    static let whitelist: String = {
        var names: [String] = []
        var state: UnsafeMutableRawPointer?
        while let format = av_demuxer_iterate(&state) {
            let name = String(cString: format.pointee.name)
            if allows(name) { names.append(name) }
        }
        return names.joined(separator: ",")
    }()

    static func allows(_ name: String) -> Bool {
        !playlists.contains(name) && !network.contains(name) && !texts.contains(name) && !pictures.contains(name)
            && !generators.contains(name) && !name.hasSuffix("_pipe") && !name.hasSuffix("pipe")
    }

    /// Whether the bytes are a list of other places rather than media.
    static func isPlaylist(_ name: String) -> Bool { playlists.contains(name) }

    private static let playlists: Set = ["concat", "hls", "dash", "imf", "webm_dash_manifest", "sdp"]

    private static let network: Set = [
        "rtp", "rtsp", "sap", "live_flv", "mpjpeg", "kmsgrab", "x11grab", "fbdev", "v4l2", "alsa", "pulse", "oss",
        "jack",
    ]

    private static let texts: Set = [
        "ffmetadata", "aqtitle", "ass", "jacosub", "lrc", "mcc", "microdvd", "mpl2", "mpsub", "pjs", "realtext", "sami",
        "scc", "srt", "stl", "subviewer", "subviewer1", "sup", "tedcaptions", "vobsub", "vplayer", "webvtt", "dvbsub",
        "dvbtxt", "tty", "bin", "adf", "idf", "xbin",
    ]

    private static let pictures: Set = [
        "image2", "alias_pix", "brender_pix", "apng", "gif", "ico", "fits", "filmstrip", "rawvideo", "yuv4mpegpipe",
        "bitpacked", "v210", "v210x",
    ]

    /// Demuxers that run programs or scripts, or make endless sound.
    private static let generators: Set = ["lavfi", "data", "sbg", "libgme", "vapoursynth"]
}
