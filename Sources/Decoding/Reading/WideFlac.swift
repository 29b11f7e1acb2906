import CLibav
import Libav

/// FLAC with 32 bits a sample, whose header every libav reads, and whose frames libavcodec decodes since FFmpeg 6.0.
enum WideFlac {
    /// Whether the decoder of this libav returns the samples of a frame.
    static let isDecoded: Bool = {
        guard let codec = avcodec_find_decoder(AV_CODEC_ID_FLAC), let context = avcodec_alloc_context3(codec) else {
            return false
        }
        var owned: UnsafeMutablePointer<AVCodecContext>? = context
        defer { avcodec_free_context(&owned) }
        // One that cannot says so in the log, which is that of a job.
        context.pointee.log_level_offset = AV_LOG_DEBUG
        guard let header = av_mallocz(streamInfo.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return false }
        header.copyMemory(from: streamInfo, byteCount: streamInfo.count)
        context.pointee.extradata = header.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = CInt(streamInfo.count)
        guard avcodec_open2(context, codec, nil) == 0, let packet = try? Packet(), let frame = try? Frame(),
            (try? packet.fill(constant, stream: 0, offset: 0, duration: 0)) != nil,
            avcodec_send_packet(context, packet.pointer) == 0, avcodec_receive_frame(context, frame.pointer) == 0,
            av_get_packed_sample_fmt(context.pointee.sample_fmt) == AV_SAMPLE_FMT_S32
        else { return false }
        return frame.pointer.pointee.data.0?.withMemoryRebound(to: Int32.self, capacity: 1) { $0.pointee } == value
    }()

    /// One that a smaller format cannot hold.
    private static let value: Int32 = 0x4000_0001
    /// STREAMINFO of 192 samples with 32 bits, mono at 44.1 kHz (RFC 9639, 8.2).
    private static let streamInfo: [UInt8] =
        [0, 192, 0, 192, 0, 0, 0, 0, 0, 0, 0x0a, 0xc4, 0x41, 0xf0, 0, 0, 0, 192] + Array(repeating: 0, count: 16)
    /// A frame whose samples all have the value (RFC 9639, 9.1 and 9.2.1).
    private static let constant: [UInt8] = [
        0xff, 0xf8, 0x10, 0x0e, 0x00, 0xfe, 0x00, 0x40, 0x00, 0x00, 0x01, 0x96, 0x81,
    ]
}
