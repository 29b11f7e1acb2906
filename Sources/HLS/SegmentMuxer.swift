import Bytes
import CLibav
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// Writes packets of one audio stream into segments of MPEG-4 or MPEG-2 transport stream; owns an `AVFormatContext`.
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

    /// Prepares the stream; its bytes go to whatever part the store has open.
    static func open(
        _ store: SegmentStore, _ encoder: borrowing Encoder, _ settings: EncodingSettings,
        _ container: SegmentSettings.Container, isTagged: Bool, stop: CancellationFlag
    ) throws(MediaError) -> SegmentMuxer {
        let sink = try SinkContext.open(store, stop: stop, maxBytes: .max)
        // Nobody may come back to what was written.
        sink.pointer.pointee.seekable = 0
        var made: UnsafeMutablePointer<AVFormatContext>?
        try check(
            avformat_alloc_output_context2(&made, nil, container == .fmp4 ? "mp4" : "mpegts", nil), operation)
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
        // libav 5.1 takes FLAC in MPEG-4 for an experiment.
        context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        var options = Options()
        switch container {
        case .fmp4:
            // The header waits for the first packets, so that its edit list tells of the encoder's delay.
            options = Options([
                ("movflags", "frag_custom+delay_moov+default_base_moof+skip_trailer"),
                ("movie_timescale", String(settings.shape.rate)),
            ])
        // Without a delay every frame of audio would fill up a transport packet of its own.
        case .mpegts:
            context.pointee.max_delay = 700_000
            if isTagged { try addTagStream() }
        }
        try checked(avformat_write_header(context, &options.pointer))
        try options.checkAllTaken(Self.operation)
    }

    /// Adds the stream of timed metadata, behind that of the audio, which keeps the clock.
    private borrowing func addTagStream() throws(MediaError) {
        guard let stream = avformat_new_stream(context, nil) else { throw .outOfMemory(Self.operation) }
        stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_DATA
        stream.pointee.codecpar.pointee.codec_id = AV_CODEC_ID_TIMED_ID3
    }

    /// Writes a tag at a time in samples; a fragment of MPEG-4 has it in front already.
    borrowing func write(_ tag: TimedTag, at time: Int64, rate: Int) throws(MediaError) {
        guard container == .mpegts else { return }
        let packet = try Packet()
        try check(av_new_packet(packet.pointer, CInt(tag.bytes.count)), Self.operation)
        packet.pointer.pointee.data.update(from: tag.bytes, count: tag.bytes.count)
        packet.place(at: time, duration: 0)
        try write(packet, rate: rate, stream: 1)
    }

    /// Writes a packet, whose times are in units of one sample; leaves it empty.
    borrowing func write(_ packet: borrowing Packet, rate: Int, stream index: Int = 0) throws(MediaError) {
        packet.enter(context.pointee.streams[index]!, rate: rate)
        try checked(av_write_frame(context, packet.pointer))
        packet.clear()
    }

    /// Writes out all that was taken so far. Of MPEG-4 the first call writes only the initialization section.
    borrowing func flush() throws(MediaError) {
        try checked(av_write_frame(context, nil))
        avio_flush(sink.pointer)
        try checked(sink.pointer.pointee.error)
    }

    /// Has the next segment of a transport stream begin with its tables, so that a player can begin there.
    borrowing func repeatTables() {
        guard container == .mpegts else { return }
        av_opt_set(context.pointee.priv_data, "mpegts_flags", "+resend_headers", 0)
    }

    /// Releases what the muxer holds; everything is written by then.
    borrowing func finish() throws(MediaError) {
        try checked(av_write_trailer(context))
        try checked(sink.pointer.pointee.error)
    }

    private borrowing func checked(_ code: CInt) throws(MediaError) {
        if let failure = sink.failure { throw failure }
        try check(code, Self.operation)
    }
}
