import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Decodes packets to samples; owns an `AVCodecContext`.
struct Decoder: ~Copyable {
    private let context: UnsafeMutablePointer<AVCodecContext>

    private init(owning context: UnsafeMutablePointer<AVCodecContext>) { self.context = context }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// The result of a request for samples.
    enum Answer {
        case samples, needsPacket, end
        case failed(MediaError.Code)
    }

    /// `flacProperties` is the STREAMINFO of another link of Ogg than that of the demuxer.
    static func open(
        _ demuxer: borrowing Demuxer, _ track: AudioTrack, drc: Double? = nil,
        flacProperties: UnsafeBufferPointer<UInt8>? = nil
    ) throws(MediaError) -> Decoder {
        let stream = demuxer.stream(track.index)
        let parameters = stream.pointee.codecpar!
        let name = String(cString: avcodec_get_name(parameters.pointee.codec_id))
        guard let descriptor = CodecID(parameters.pointee.codec_id)?.descriptor,
            let codec = find(parameters)
        else {
            let label = try demuxer.codecLabel(track)
            throw MediaError(
                .unsupportedFormat, operation, "the codec of the audio is \(label), which is not supported")
        }
        let flac = flacProperties.map { FlacHeader($0) } ?? FlacHeader(stream)
        if flac?.bits == 32, !RareVariant.wideFlac.isDecoded {
            throw MediaError(
                .unsupportedFormat, operation, "the audio is FLAC with 32 bits per sample, which libav cannot decode")
        }
        guard let context = avcodec_alloc_context3(codec) else { throw .outOfMemory(operation) }
        let decoder = Decoder(owning: context)
        try check(avcodec_parameters_to_context(context, parameters), operation)
        if let flacProperties, context.pointee.extradata_size >= flacProperties.count {
            context.pointee.extradata.update(from: flacProperties.baseAddress!, count: flacProperties.count)
        }
        // Without it, priming samples are removed but timestamps are not adjusted.
        context.pointee.pkt_timebase = stream.pointee.time_base
        // Integers would be clipped.
        if codec.pointee.id == AV_CODEC_ID_OPUS { context.pointee.request_sample_fmt = AV_SAMPLE_FMT_FLT }
        context.pointee.thread_count = 1
        let delay = takeDelay(context)
        let rate = SpeexFrames.hideHeader(context)
        if descriptor.isChecksummed { context.pointee.err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE }
        if descriptor.compressesRange {
            // Without it, dither depends on all earlier decoding.
            av_opt_set_int(context.pointee.priv_data, "cons_noisegen", 1, 0)
            av_opt_set_double(context.pointee.priv_data, "drc_scale", drc ?? 1, 0)
        }
        let code = avcodec_open2(context, codec, nil)
        guard code >= 0 else {
            let code = MediaError.Code(rawValue: code)
            guard code.isUnimplemented else {
                throw MediaError(
                    .corruptMedia, operation, "the headers of the audio (\(name)) cannot be decoded: \(code)",
                    code: code)
            }
            throw MediaError(
                .unsupportedFormat, operation,
                "the audio is \(variant(track) ?? "a variant of \(name)"), which libav cannot decode")
        }
        if delay > 0 { context.pointee.delay = delay }
        if let rate { context.pointee.sample_rate = rate }
        return decoder
    }

    /// The decoder of a codec. MPEG audio is decoded in floating point, because libav's other decoders apply dither that never
    /// settles. Opus is decoded by its reference: libav's own decoder differs in the speech modes, by 10 to 20 dB and a sample.
    private static func find(_ parameters: UnsafeMutablePointer<AVCodecParameters>) -> UnsafePointer<AVCodec>? {
        let codec = parameters.pointee.codec_id
        switch codec {
        case AV_CODEC_ID_OPUS where parameters.pointee.suitsReference:
            return avcodec_find_decoder_by_name(CodecID.referenceOpus) ?? avcodec_find_decoder(codec)
        case AV_CODEC_ID_MP1: return avcodec_find_decoder_by_name("mp1float")
        case AV_CODEC_ID_MP2: return avcodec_find_decoder_by_name("mp2float")
        case AV_CODEC_ID_MP3: return avcodec_find_decoder_by_name("mp3float")
        default: return avcodec_find_decoder(codec)
        }
    }

    /// Removes the delay of Opus from the copy of its header, and returns it: libav's decoder of the reference would drop it again
    /// after each flush.
    private static func takeDelay(_ context: UnsafeMutablePointer<AVCodecContext>) -> CInt {
        guard context.pointee.codec_id == AV_CODEC_ID_OPUS, context.pointee.extradata_size >= 19,
            let header = context.pointee.extradata
        else { return 0 }
        defer { (header[10], header[11]) = (0, 0) }
        return CInt(header[10]) | CInt(header[11]) << 8
    }

    /// The kind of AAC, whose decoder supports some of them; `nil` for other codecs.
    private static func variant(_ track: AudioTrack) -> String? {
        track.isExtendedAAC ? "xHE-AAC" : track.aacObjectType.map { "AAC of object type \($0)" }
    }

    private static let operation = "open the decoder"

    /// libav's decoder ignores smaller packets (`FLAC_MIN_FRAME_SIZE` in libavcodec/flac.h), such as digital silence in 8 bits.
    private static let minFlacBytes = 11

    /// Sends a packet to the decoder. Returns libav's error code if the decoder refuses it; otherwise `nil`.
    borrowing func send(_ packet: borrowing Packet) -> MediaError.Code? {
        if context.pointee.codec_id == AV_CODEC_ID_FLAC {
            do { try packet.extend(to: Self.minFlacBytes) } catch { return .noMemory }
        }
        if context.pointee.codec_id == AV_CODEC_ID_OPUS, context.pointee.delay > 0 {
            // libav marks the first packet itself in some containers.
            let trimming = packet.trimming
            if trimming.map({ $0.skip == 0 }) ?? true {
                let delay = Int64(context.pointee.delay)
                do { try packet.trim(skip: delay, discard: trimming?.discard ?? 0) } catch { return .noMemory }
            }
            context.pointee.delay = 0
        }
        let code = avcodec_send_packet(context, packet.pointer)
        return code < 0 ? MediaError.Code(rawValue: code) : nil
    }

    /// Whether it was opened with that header.
    borrowing func hasHeader(_ header: UnsafeBufferPointer<UInt8>) -> Bool {
        UnsafeBufferPointer(start: context.pointee.extradata, count: Int(context.pointee.extradata_size))
            .prefix(header.count).elementsEqual(header)
    }

    /// Resets the decoder's state.
    borrowing func flush() { avcodec_flush_buffers(context) }

    /// Resets the decoder's state. From now on, timestamps count samples.
    borrowing func restart(rate: Int) {
        avcodec_flush_buffers(context)
        context.pointee.pkt_timebase = AVRational(num: 1, den: CInt(rate))
    }

    borrowing func sendEnd() { avcodec_send_packet(context, nil) }

    /// Receives decoded samples, if there are any.
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

    /// The shape that the decoder declares before it decodes a packet.
    var shape: SampleShape {
        get throws(MediaError) {
            SampleShape(
                format: context.pointee.sample_fmt, rate: Int(context.pointee.sample_rate),
                layout: try ChannelLayout(naming: &context.pointee.ch_layout))
        }
    }

    /// The depth of the source's samples.
    var depth: SampleDepth { SampleDepth(context) }
}

private extension AVCodecParameters {
    /// Whether libav's decoder of the Opus reference gives the channels in the order of libav's own: it takes those of mapping
    /// families without names (RFC 7845, 5.1.1.3) for loudspeakers. Headers that are not valid are left to libav's own, too.
    var suitsReference: Bool {
        guard let extradata, extradata_size > 0 else { return ch_layout.nb_channels <= 2 }
        guard extradata_size >= 19 else { return false }
        let channels = extradata[9]
        switch extradata[18] {
        case 0: return (1...2).contains(channels)
        case 1:
            return (1...8).contains(channels) && extradata_size >= 21 + CInt(channels) && extradata[19] > 0
                && extradata[20] <= extradata[19]
        default: return false
        }
    }
}
