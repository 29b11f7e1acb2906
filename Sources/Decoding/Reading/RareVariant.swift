import CLibav
import Libav

/// Variants of codecs that not every libav decodes.
package enum RareVariant: String, CaseIterable, Sendable {
    /// FLAC, whose header every libav reads, and whose frames libavcodec decodes since FFmpeg 6.0.
    case wideFlac = "FLAC of 32 bits"
    /// USAC (ISO 23003-3), which libavcodec decodes since FFmpeg 7.1.
    case extendedAAC = "xHE-AAC"

    /// Whether the libav of this process decodes it.
    package var isDecoded: Bool {
        switch self {
        case .wideFlac: Self.decodesWideFlac
        case .extendedAAC: Self.decodesExtendedAAC
        }
    }

    private static let decodesWideFlac: Bool = {
        let isRead = withDecoder(AV_CODEC_ID_FLAC, streamInfo) { context in
            guard let packet = try? Packet(), let frame = try? Frame(),
                (try? packet.fill(constant, stream: 0, offset: 0, duration: 0)) != nil,
                avcodec_send_packet(context, packet.pointer) == 0, avcodec_receive_frame(context, frame.pointer) == 0,
                av_get_packed_sample_fmt(context.pointee.sample_fmt) == AV_SAMPLE_FMT_S32
            else { return false }
            return frame.pointer.pointee.data.0?.withMemoryRebound(to: Int32.self, capacity: 1) { $0.pointee } == value
        }
        return isRead ?? false
    }()

    private static let decodesExtendedAAC = withDecoder(AV_CODEC_ID_AAC, configuration) { _ in true } ?? false

    /// Calls the body with a decoder that was opened with a header; returns `nil` if it refuses it.
    private static func withDecoder(
        _ codec: AVCodecID, _ header: [UInt8], _ body: (UnsafeMutablePointer<AVCodecContext>) -> Bool
    ) -> Bool? {
        guard let codec = avcodec_find_decoder(codec), let context = avcodec_alloc_context3(codec) else { return nil }
        var owned: UnsafeMutablePointer<AVCodecContext>? = context
        defer { avcodec_free_context(&owned) }
        // One that cannot says so in the log, which is that of a job.
        context.pointee.log_level_offset = AV_LOG_DEBUG
        guard let extradata = av_mallocz(header.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return nil }
        extradata.copyMemory(from: header, byteCount: header.count)
        context.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = CInt(header.count)
        return avcodec_open2(context, codec, nil) == 0 ? body(context) : nil
    }

    /// One that a smaller format cannot hold.
    private static let value: Int32 = 0x4000_0001
    /// STREAMINFO of 192 samples with 32 bits, mono at 44.1 kHz (RFC 9639, 8.2).
    private static let streamInfo: [UInt8] =
        [0, 192, 0, 192, 0, 0, 0, 0, 0, 0, 0x0a, 0xc4, 0x41, 0xf0, 0, 0, 0, 192] + Array(repeating: 0, count: 16)
    /// A frame whose samples all have the value (RFC 9639, 9.1 and 9.2.1).
    private static let constant: [UInt8] = [
        0xff, 0xf8, 0x10, 0x0e, 0x00, 0xfe, 0x00, 0x40, 0x00, 0x00, 0x01, 0x96, 0x81,
    ]
    /// Mono at 44.1 kHz in frames of 1,024 samples: object type 42, and a UsacConfig with one single channel element.
    private static let configuration: [UInt8] = [0xF9, 0x48, 0x24, 0x21, 0, 0]
}
