import Bytes
import CLibav
import Encoders
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// Writes packets of one audio stream into MPEG-4 or MPEG-2 transport stream segments; owns an `AVFormatContext`.
struct SegmentMuxer: ~Copyable {
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let sink: SinkContext
    private let store: SegmentStore
    private let container: SegmentSettings.Container

    private init(
        owning context: UnsafeMutablePointer<AVFormatContext>, _ sink: consuming SinkContext, _ store: SegmentStore,
        _ container: SegmentSettings.Container
    ) {
        self.context = context
        self.sink = sink
        self.store = store
        self.container = container
    }

    deinit { avformat_free_context(context) }

    /// Opens a muxer that writes into the store's open file.
    static func open(
        _ store: SegmentStore, _ encoder: borrowing Encoder, _ settings: EncodingSettings,
        _ container: SegmentSettings.Container, isTagged: Bool, stop: CancellationFlag
    ) throws(MediaError) -> SegmentMuxer {
        let sink = try SinkContext.open(store, stop: stop, maxBytes: .max)
        // Segments are written sequentially: the muxer must not seek back.
        sink.pointer.pointee.seekable = 0
        var made: UnsafeMutablePointer<AVFormatContext>?
        try check(
            avformat_alloc_output_context2(&made, nil, container.libavName, nil), operation)
        guard let context = made else { throw .outOfMemory(operation) }
        let muxer = SegmentMuxer(owning: context, sink, store, container)
        context.pointee.pb = muxer.sink.pointer
        context.pointee.io_open = { _, _, _, _, _ in av_swift_error(1) }
        try muxer.start(encoder, settings, isTagged: isTagged)
        return muxer
    }

    private static let operation = "write the segments"

    private borrowing func start(
        _ encoder: borrowing Encoder, _ settings: EncodingSettings, isTagged: Bool
    ) throws(MediaError) {
        guard let stream = avformat_new_stream(context, nil) else { throw .outOfMemory(Self.operation) }
        try check(avcodec_parameters_from_context(stream.pointee.codecpar, encoder.context), Self.operation)
        stream.pointee.time_base = encoder.context.pointee.time_base
        // libav 5.1 considers FLAC in MPEG-4 experimental.
        context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        var options = Options()
        switch container {
        case .fmp4:
            // The header is written with the first packets, so that its edit list contains the encoder's delay.
            options = Options([
                ("movflags", "frag_custom+delay_moov+default_base_moof+skip_trailer"),
                ("movie_timescale", String(settings.shape.rate)),
            ])
        // Without a delay, each audio frame would be padded to separate transport packets.
        case .mpegts:
            context.pointee.max_delay = 700_000
            if isTagged { try addTagStream() }
        }
        try checked(avformat_write_header(context, &options.pointer))
        try options.checkAllTaken(Self.operation)
    }

    /// Adds the timed metadata stream after the audio stream, which carries the PCR.
    private borrowing func addTagStream() throws(MediaError) {
        guard let stream = avformat_new_stream(context, nil) else { throw .outOfMemory(Self.operation) }
        stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_DATA
        stream.pointee.codecpar.pointee.codec_id = AV_CODEC_ID_TIMED_ID3
    }

    /// Writes a tag at a time in samples. MPEG-4 fragments carry the tag in an event message box instead.
    borrowing func write(_ tag: TimedTag, at time: Int64, rate: Int) throws(MediaError) {
        guard container == .mpegts else { return }
        let packet = try Packet()
        try check(av_new_packet(packet.pointer, CInt(tag.bytes.count)), Self.operation)
        packet.pointer.pointee.data.update(from: tag.bytes, count: tag.bytes.count)
        packet.place(at: time, duration: 0)
        try write(packet, rate: rate, stream: 1)
    }

    /// Writes a packet whose times are in units of one sample, and clears it.
    borrowing func write(_ packet: borrowing Packet, rate: Int, stream index: Int = 0) throws(MediaError) {
        packet.enter(context.pointee.streams[index]!, rate: rate)
        try checked(av_write_frame(context, packet.pointer))
        packet.clear()
    }

    /// Flushes everything written so far. For MPEG-4, the first call writes only the initialization section.
    borrowing func flush() throws(MediaError) {
        try checked(av_write_frame(context, nil))
        avio_flush(sink.pointer)
        try checked(sink.pointer.pointee.error)
    }

    /// Repeats the PAT and PMT at the start of the next transport stream segment, so that players can start there.
    borrowing func repeatTables() {
        guard container == .mpegts else { return }
        av_opt_set(context.pointee.priv_data, "mpegts_flags", "+resend_headers", 0)
    }

    /// Writes the trailer; everything else is already written.
    borrowing func finish() throws(MediaError) {
        try checked(av_write_trailer(context))
        try checked(sink.pointer.pointee.error)
    }

    private borrowing func checked(_ code: CInt) throws(MediaError) {
        if let failure = sink.failure { throw failure }
        try check(code, Self.operation)
    }
}
