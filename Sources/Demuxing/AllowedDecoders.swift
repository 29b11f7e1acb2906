package import CLibav

/// The codecs that may be decoded, by libav's names: those of audio, whoever else asks for a decoder.
package enum AllowedDecoders {
    /// The names of decoders as `AVFormatContext.codec_whitelist` wants them, for the search for hidden parameters.
    static let whitelist: String = {
        var names: [String] = []
        var state: UnsafeMutableRawPointer?
        while let codec = av_codec_iterate(&state) {
            guard av_codec_is_decoder(codec) != 0, codec.pointee.type == AVMEDIA_TYPE_AUDIO else { continue }
            if allows(codec.pointee.id) { names.append(String(cString: codec.pointee.name)) }
        }
        return names.joined(separator: ",")
    }()

    /// Whether sources of a codec are decoded.
    package static func allows(_ codec: AVCodecID) -> Bool {
        let name = String(cString: avcodec_get_name(codec))
        return names.contains(name) || uncompressed.contains { name.hasPrefix($0) }
    }

    /// Families of which every member only unpacks numbers.
    private static let uncompressed = ["pcm_", "adpcm_", "dsd_"]

    private static let names: Set = [
        // Of music and films.
        "aac", "aac_latm", "ac3", "alac", "ape", "cook", "dsd_lsbf", "dst", "dts", "dvaudio", "eac3", "flac", "mlp",
        "mp1", "mp2", "mp3", "mp3adu", "mp3on4", "mp4als", "musepack7", "musepack8", "opus", "ralf", "s302m", "shorten",
        "tak", "truehd", "tta", "twinvq", "metasound", "vorbis", "wavpack", "wmalossless", "wmapro", "wmav1", "wmav2",
        "xma1", "xma2", "atrac1", "atrac3", "atrac3al", "atrac3p", "atrac3pal", "atrac9", "dolby_e", "qdm2", "qdmc",
        "mace3", "mace6", "8svx_exp", "8svx_fib", "sonic",
        // Of speech and telephony.
        "acelp.kelvin", "amr_nb", "amr_wb", "aptx", "aptx_hd", "codec2", "dfpwm", "dss_sp", "evrc", "g723_1", "g729",
        "gsm", "gsm_ms", "ilbc", "msnsiren", "nellymoser", "qcelp", "ra_144", "ra_288", "sbc", "sipr", "siren", "speex",
        "truespeech", "wmavoice", "imc", "iac",
        // Of games.
        "avc", "binkaudio_dct", "binkaudio_rdft", "derf_dpcm", "dsicinaudio", "fastaudio", "gremlin_dpcm", "hca",
        "hcom",
        "interplay_dpcm", "interplayacm", "paf_audio", "roq_dpcm", "sdx2_dpcm", "smackaudio", "sol_dpcm", "vmdaudio",
        "westwood_snd1", "xan_dpcm", "bmv_audio",
    ]
}
