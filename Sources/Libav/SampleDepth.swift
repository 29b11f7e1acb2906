package import CLibav
import Containers
package import MediaTypes

/// The sample resolution of a source, which determines the depth that an output needs.
package enum SampleDepth: Hashable {
    case integer(bits: Int)
    case float32, float64
    /// A lossy codec, whose samples have no depth.
    case lossy

    /// The depth of an open decoder's output.
    package init(_ decoder: UnsafePointer<AVCodecContext>) {
        let codec = decoder.pointee.codec_id
        let properties = avcodec_descriptor_get(codec)?.pointee.props ?? 0
        let isCompanded = [AV_CODEC_ID_PCM_ALAW, AV_CODEC_ID_PCM_MULAW, AV_CODEC_ID_PCM_VIDC].contains(codec)
        if CodecID(codec) != .pcm || isCompanded {
            guard properties & AV_CODEC_PROP_LOSSLESS != 0 else {
                self = .lossy
                return
            }
        }
        switch av_get_packed_sample_fmt(decoder.pointee.sample_fmt) {
        case AV_SAMPLE_FMT_FLT: self = CodecID(codec) == .dsd ? .integer(bits: 24) : .float32
        case AV_SAMPLE_FMT_DBL: self = .float64
        default:
            let bytes = Int(av_get_bytes_per_sample(decoder.pointee.sample_fmt))
            let raw = Int(decoder.pointee.bits_per_raw_sample)
            self = .integer(bits: raw > 0 && raw < bytes * 8 ? raw : min(bytes * 8, 32))
        }
    }

    /// The smallest sample format, without a byte order, that preserves the depth.
    package var sampleFormat: SampleFormat {
        switch self {
        case .integer(bits: ...16), .lossy: .s16
        case .integer(bits: ...24): .s24
        case .integer: .s32
        case .float32: .f32
        case .float64: .f64
        }
    }
}
