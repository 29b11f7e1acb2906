import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Turns packets into samples; owns an `AVCodecContext`.
struct Decoder: ~Copyable {
    private let context: UnsafeMutablePointer<AVCodecContext>

    private init(owning context: UnsafeMutablePointer<AVCodecContext>) { self.context = context }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// What came of asking for samples.
    enum Answer {
        case samples, needsPacket, end
        case failed(MediaError.Code)
    }

    static func open(_ stream: UnsafeMutablePointer<AVStream>, drc: Double? = nil) throws(MediaError) -> Decoder {
        let parameters = stream.pointee.codecpar!
        let name = String(cString: avcodec_get_name(parameters.pointee.codec_id))
        guard let descriptor = CodecID(parameters.pointee.codec_id)?.descriptor,
            let codec = find(parameters.pointee.codec_id)
        else {
            throw MediaError(.unsupportedFormat, operation, "the audio is in codec \(name), which cannot be decoded")
        }
        // libav knows the samples' header, and no frames of them (before its version 6.0).
        if let flac = FlacHeader(stream), flac.bits == 32 {
            throw MediaError(
                .unsupportedFormat, operation, "the audio is FLAC of 32 bits a sample, which libav cannot decode")
        }
        guard let context = avcodec_alloc_context3(codec) else { throw .outOfMemory(operation) }
        let decoder = Decoder(owning: context)
        try check(avcodec_parameters_to_context(context, parameters), operation)
        // Without it priming is cut but the timestamps stay.
        context.pointee.pkt_timebase = stream.pointee.time_base
        context.pointee.thread_count = 1
        if descriptor.isChecksummed { context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE }
        if descriptor.compressesRange {
            // Without it dither depends on all that was decoded before.
            av_opt_set_int(context.pointee.priv_data, "cons_noisegen", 1, 0)
            av_opt_set_double(context.pointee.priv_data, "drc_scale", drc ?? 1, 0)
        }
        try check(avcodec_open2(context, codec, nil), operation, or: .corruptMedia)
        return decoder
    }

    /// The decoder of a codec: in floating point for layers I and II, where libav's usual one dithers without end.
    private static func find(_ codec: AVCodecID) -> UnsafePointer<AVCodec>? {
        switch codec {
        case AV_CODEC_ID_MP1: avcodec_find_decoder_by_name("mp1float")
        case AV_CODEC_ID_MP2: avcodec_find_decoder_by_name("mp2float")
        default: avcodec_find_decoder(codec)
        }
    }

    private static let operation = "open the decoder"

    /// Gives the decoder a packet, or the news that no more come; answers libav's error for a packet it cannot take.
    borrowing func send(_ packet: borrowing Packet) -> MediaError.Code? {
        let code = avcodec_send_packet(context, packet.pointer)
        return code < 0 ? MediaError.Code(rawValue: code) : nil
    }

    /// Forgets what came before.
    borrowing func flush() { avcodec_flush_buffers(context) }

    /// Forgets what came before, and takes time stamps to count samples from now on.
    borrowing func restart(rate: Int) {
        avcodec_flush_buffers(context)
        context.pointee.pkt_timebase = AVRational(num: 1, den: CInt(rate))
    }

    borrowing func sendEnd() { avcodec_send_packet(context, nil) }

    /// Takes decoded samples, if there are any.
    borrowing func receive(into frame: borrowing Frame) throws(MediaError) -> Answer {
        let code = avcodec_receive_frame(context, frame.pointer)
        switch MediaError.Code(rawValue: code) {
        case .again: return .needsPacket
        case .endOfFile: return .end
        case .noMemory: throw .outOfMemory("decode the audio")
        case let failure where code < 0: return .failed(failure)
        default: return .samples
        }
    }

    /// What a sample of this source is worth keeping.
    var depth: SampleDepth { SampleDepth(context) }
}
