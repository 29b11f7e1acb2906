package import CLibav
package import Containers

extension CodecID {
    /// The codec of a libav codec ID; `nil` if it is not decoded.
    package init?(_ codec: AVCodecID) { self.init(name: String(cString: avcodec_get_name(codec))) }

    /// The names of the decoders of all codecs that are decoded, as `AVFormatContext.codec_whitelist` wants them.
    package static let decoders: String = {
        var names: [String] = []
        var state: UnsafeMutableRawPointer?
        while let codec = av_codec_iterate(&state) {
            guard av_codec_is_decoder(codec) != 0, codec.pointee.type == AVMEDIA_TYPE_AUDIO else { continue }
            if CodecID(codec.pointee.id) != nil { names.append(String(cString: codec.pointee.name)) }
        }
        return names.joined(separator: ",")
    }()
}
