package import Bytes
package import CLibav
package import Libav
import MediaTypes

/// Encodes samples to packets; owns an `AVCodecContext`.
package struct Encoder: ~Copyable {
    /// libav's codec context, valid during the lifetime of this value.
    package let context: UnsafeMutablePointer<AVCodecContext>

    private init(owning context: UnsafeMutablePointer<AVCodecContext>) { self.context = context }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// Opens the encoder and verifies that it accepted every setting unchanged.
    package static func open(_ settings: EncodingSettings, globalHeader: Bool) throws(MediaError) -> Encoder {
        let name = settings.codec.encoderName(settings.sampleFormat, settings.format.byteOrder)
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw MediaError(.internal, operation, "libav has no encoder \(name)")
        }
        guard let context = avcodec_alloc_context3(codec) else { throw .outOfMemory(operation) }
        let encoder = Encoder(owning: context)
        try encoder.configure(settings)
        if globalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
        var options = Options(settings.encoderOptions)
        let code = avcodec_open2(context, codec, &options.pointer)
        guard code >= 0 else {
            throw MediaError(
                .invalidSettings, operation,
                "\(name) rejects \(settings.summary): \(MediaError.Code(rawValue: code))", code: .init(rawValue: code))
        }
        try options.checkAllTaken(operation)
        try encoder.checkKept(settings)
        return encoder
    }

    private static let operation = "open the encoder"

    private borrowing func configure(_ settings: EncodingSettings) throws(MediaError) {
        context.pointee.sample_fmt = settings.shape.format
        context.pointee.sample_rate = CInt(settings.shape.rate)
        context.pointee.time_base = AVRational(num: 1, den: CInt(settings.shape.rate))
        context.pointee.thread_count = 1
        try check(av_channel_layout_copy(&context.pointee.ch_layout, settings.shape.layout.pointer), Self.operation)
        if let bits = settings.sampleFormat?.bits, settings.codec.kind == .lossless {
            context.pointee.bits_per_raw_sample = CInt(bits)
        }
        if let bitRate = settings.bitRate { context.pointee.bit_rate = Int64(bitRate) }
        if let quality = settings.quality {
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = CInt((quality * Double(FF_QP2LAMBDA)).rounded())
        }
    }

    private borrowing func checkKept(_ settings: EncodingSettings) throws(MediaError) {
        let encoded = context.pointee
        let kept =
            encoded.sample_fmt == settings.shape.format && Int(encoded.sample_rate) == settings.shape.rate
            && settings.shape.layout.equals(&context.pointee.ch_layout)
            && settings.bitRate.map { Int64($0) == encoded.bit_rate } ?? true
        guard kept else {
            throw MediaError(
                .invalidSettings, Self.operation, "the encoder does not accept \(settings.summary) unchanged")
        }
    }

    /// The required samples of each channel in every frame except the last; `nil` if any number is accepted.
    package var frameSize: Int? {
        let isVariable = context.pointee.codec.pointee.capabilities & AV_CODEC_CAP_VARIABLE_FRAME_SIZE != 0
        return isVariable || context.pointee.frame_size == 0 ? nil : Int(context.pointee.frame_size)
    }

    /// The headers of the stream (`extradata`), valid during the lifetime of this value.
    var headers: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: context.pointee.extradata, count: Int(context.pointee.extradata_size))
    }

    /// Sends a frame to the encoder.
    package borrowing func send(_ frame: borrowing Frame) throws(MediaError) {
        try check(avcodec_send_frame(context, frame.pointer), "encode the audio")
    }

    /// Changes the bit rate of the frames that follow. The encoder of AAC reads it for each frame (`aac_encode_frame`).
    borrowing func setBitRate(_ bitRate: Int) { context.pointee.bit_rate = Int64(bitRate) }

    /// Signals the end of the samples.
    package borrowing func sendEnd() throws(MediaError) {
        try check(avcodec_send_frame(context, nil), "encode the audio")
    }

    /// Receives an encoded packet; returns `false` if the encoder needs more samples or has ended.
    package borrowing func receive(into packet: borrowing Packet) throws(MediaError) -> Bool {
        let code = avcodec_receive_packet(context, packet.pointer)
        switch MediaError.Code(rawValue: code) {
        case .again, .endOfFile: return false
        default:
            try check(code, "encode the audio")
            return true
        }
    }
}

extension EncodingSettings {
    /// A short description of the settings, for errors.
    var summary: String {
        let rate = bitRate.map { " at \($0) bit/s" } ?? quality.map { " at quality \($0)" } ?? ""
        return "\(codec.name)\(rate), \(shape.rate) Hz, \(shape.layout)"
    }
}
