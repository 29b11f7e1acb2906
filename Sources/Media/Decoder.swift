import CLibav

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

    static func open(_ stream: UnsafeMutablePointer<AVStream>) throws(MediaError) -> Decoder {
        let parameters = stream.pointee.codecpar!
        let name = String(cString: avcodec_get_name(parameters.pointee.codec_id))
        guard let codec = avcodec_find_decoder(parameters.pointee.codec_id) else {
            throw MediaError(.unsupportedFormat, operation, "the audio is in codec \(name), which cannot be decoded")
        }
        guard let context = avcodec_alloc_context3(codec) else { throw .outOfMemory(operation) }
        let decoder = Decoder(owning: context)
        try check(avcodec_parameters_to_context(context, parameters), operation)
        // Without it priming is cut but the timestamps stay.
        context.pointee.pkt_timebase = stream.pointee.time_base
        context.pointee.thread_count = 1
        if checksummed.contains(name) { context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE }
        try check(avcodec_open2(context, codec, nil), operation, or: .corruptMedia)
        return decoder
    }

    private static let operation = "open the decoder"

    /// Codecs whose every frame carries a checksum that libav looks at only on request.
    private static let checksummed: Set = ["flac", "tta", "wavpack", "ape", "tak"]

    /// Gives the decoder a packet, or the news that no more come; answers libav's error for a packet it cannot take.
    borrowing func send(_ packet: borrowing Packet) -> MediaError.Code? {
        let code = avcodec_send_packet(context, packet.pointer)
        return code < 0 ? MediaError.Code(rawValue: code) : nil
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
