package import CLibav
package import Containers

extension CodecID {
    /// The codec of a libav codec ID.
    package init(_ codec: AVCodecID) {
        self =
            switch codec {
            case AV_CODEC_ID_FLAC: .flac
            case AV_CODEC_ID_OPUS: .opus
            case AV_CODEC_ID_SPEEX: .speex
            case AV_CODEC_ID_TTA: .trueAudio
            case AV_CODEC_ID_VORBIS: .vorbis
            default: Self(family: String(cString: avcodec_get_name(codec)))
            }
    }

    /// The codec family of a libav codec name, by its prefix.
    private init(family name: String) {
        self = name.hasPrefix("pcm_") ? .pcm : name.hasPrefix("dsd_") ? .dsd : .other
    }
}
