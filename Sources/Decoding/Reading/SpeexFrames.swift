import CLibav
import Glibc
import Libav

/// Opens libav's decoder of Speex so that it returns the samples of a frame once.
///
/// With the header of a stream, that of libavcodec 61 takes wideband frames for twice as long as they are, and returns as much
/// again behind each (`parse_speex_extradata` in libavcodec/speexdec.c). Without one, it determines their length by the sample rate.
enum SpeexFrames {
    /// Hides the header from a decoder that takes it for one of longer frames. Returns the sample rate to set once the decoder is
    /// open; `nil` if the header is left.
    static func hideHeader(_ context: UnsafeMutablePointer<AVCodecContext>) -> CInt? {
        guard context.pointee.codec_id == AV_CODEC_ID_SPEEX, context.pointee.extradata_size >= headerBytes,
            let header = context.pointee.extradata, memcmp(header, mark, mark.utf8.count) == 0,
            (1...2).contains(header[modeOffset]), areDoubled
        else { return nil }
        let rate = context.pointee.sample_rate
        // The rate by which the decoder chooses the mode, whatever that of the stream is.
        context.pointee.sample_rate = 8000 << CInt(header[modeOffset])
        av_freep(&context.pointee.extradata)
        context.pointee.extradata_size = 0
        return rate
    }

    private static let mark = "Speex   "
    private static let headerBytes: CInt = 80
    private static let modeOffset = 40
    /// The samples of a frame in wideband mode.
    private static let wideband: CInt = 320

    /// Whether the decoder of this libav returns more samples than a wideband frame has.
    private static let areDoubled: Bool = {
        guard let codec = avcodec_find_decoder(AV_CODEC_ID_SPEEX), let context = avcodec_alloc_context3(codec) else {
            return false
        }
        var owned: UnsafeMutablePointer<AVCodecContext>? = context
        defer { avcodec_free_context(&owned) }
        guard let header = av_mallocz(Int(headerBytes + AV_INPUT_BUFFER_PADDING_SIZE)) else { return false }
        header.copyMemory(from: mark, byteCount: mark.utf8.count)
        // Rate, mode, version, channels, samples of a frame, and frames of a packet.
        for (offset, value) in [(36, 16_000), (modeOffset, 1), (44, 4), (48, 1), (56, wideband), (64, 1)] {
            header.storeBytes(of: UInt32(value).littleEndian, toByteOffset: offset, as: UInt32.self)
        }
        context.pointee.extradata = header.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = headerBytes
        context.pointee.sample_rate = 16_000
        guard avcodec_open2(context, codec, nil) == 0, let packet = try? Packet(), let frame = try? Frame() else {
            return false
        }
        // A frame of silence in both bands.
        guard (try? packet.fill([0x04, 0x00], stream: 0, offset: 0, duration: 0)) != nil,
            avcodec_send_packet(context, packet.pointer) == 0, avcodec_receive_frame(context, frame.pointer) == 0
        else { return false }
        return frame.pointer.pointee.nb_samples > wideband
    }()
}
