import CLibav
import Libav

/// How much has to be decoded and thrown away before the samples are, bit for bit, those of a whole decode.
///
/// Found by measuring, and doubled at least: synthesis filters and bit reservoirs settle within a few frames, the recursive
/// filters of speech codecs only when their difference is rounded away. AAC settles but for the noise that its decoder
/// makes up where the encoder left bands out.
enum PreRoll {
    /// Seconds; nothing for codecs that are decoded from the start, because they never settle or because nobody measured.
    static func seconds(_ track: AudioTrack) -> Int? {
        if track.isPCM || frames.contains(track.codec) { return 4 }
        return recursive.contains(track.codec) ? 30 : nil
    }

    private static let frames: Set = [
        AV_CODEC_ID_MP1, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3, AV_CODEC_ID_AAC, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3,
        AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS, AV_CODEC_ID_FLAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA,
        AV_CODEC_ID_DTS, AV_CODEC_ID_ADPCM_MS, AV_CODEC_ID_ADPCM_IMA_WAV,
    ]

    private static let recursive: Set = [
        AV_CODEC_ID_SPEEX, AV_CODEC_ID_GSM, AV_CODEC_ID_GSM_MS, AV_CODEC_ID_ADPCM_G722, AV_CODEC_ID_ADPCM_G726,
    ]

    /// Packets at least, for codecs whose packets are long.
    static let packets = 12
}
