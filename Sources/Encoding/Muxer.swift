package import Bytes
import CLibav
import Decoding
import Encoders
package import Libav
package import Lifecycle
import MediaTypes
package import Tags

/// Writes packets of audio streams into a container; owns an `AVFormatContext`.
package struct Muxer: ~Copyable {
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let sink: SinkContext

    private init(owning context: UnsafeMutablePointer<AVFormatContext>, sink: consuming SinkContext) {
        self.context = context
        self.sink = sink
    }

    deinit { avformat_free_context(context) }

    /// Opens a container. `start` is called once its streams are known.
    package static func open(_ store: any RandomAccessOutput, _ settings: EncodingSettings, stop: CancellationFlag)
        throws(MediaError)
        -> Muxer
    {
        let sink = try SinkContext.open(store, stop: stop, maxBytes: settings.format.container.maxBytes)
        var made: UnsafeMutablePointer<AVFormatContext>?
        try check(
            avformat_alloc_output_context2(
                &made, nil, settings.muxerName,
                "output.\(settings.format.fileExtension)"), operation)
        guard let context = made else { throw .outOfMemory(operation) }
        context.pointee.pb = sink.pointer
        context.pointee.opaque = sink.opaque
        context.pointee.io_open = { context, answer, _, flags, _ in StagedReader.open(context!, answer!, flags) }
        context.pointee.io_close2 = { _, pointer in StagedReader.close(pointer!) }
        return Muxer(owning: context, sink: sink)
    }

    private static let operation = "write the output"

    /// Whether the container stores the codec's configuration separately from its packets.
    var wantsGlobalHeader: Bool { context.pointee.oformat.pointee.flags & AVFMT_GLOBALHEADER != 0 }

    /// Adds an encoder's stream before the header is written; returns its index.
    borrowing func add(
        _ encoder: borrowing Encoder, _ settings: EncodingSettings, label: TrackLabel? = nil
    ) throws(MediaError) -> Int {
        guard let stream = avformat_new_stream(context, nil) else { throw .outOfMemory(Self.operation) }
        try check(avcodec_parameters_from_context(stream.pointee.codecpar, encoder.context), Self.operation)
        if let tag = settings.format.codecTag(settings.sampleFormat) {
            stream.pointee.codecpar.pointee.codec_tag = fourBytes(tag)
        }
        stream.pointee.time_base = encoder.context.pointee.time_base
        label?.apply(to: stream, isQuickTime: settings.format.container.tags.isQuickTime)
        return Int(stream.pointee.index)
    }

    /// Writes the header for the added streams. `rate` in Hz is the timescale of edit lists for all of them.
    package borrowing func start(
        _ settings: EncodingSettings, rate: Int, tags: HeaderTags, options more: [(String, String)] = []
    ) throws(MediaError) {
        let stream = context.pointee.streams[0]!
        try tags.apply(to: context, stream)
        if settings.format.container.gapless == .lameTag { signTag(stream) }
        var options = Options(settings.format.muxerOptions(rate: rate) + tags.options + more)
        try checked(avformat_write_header(context, &options.pointer))
        try options.checkAllTaken(Self.operation)
    }

    /// Writes the header for packets copied from another container's stream. `lead` is the number of samples before the first
    /// audible one.
    borrowing func start(
        copying sourceStream: UnsafeMutablePointer<AVStream>, _ settings: EncodingSettings, lead: Int64,
        tags: HeaderTags
    ) throws(MediaError) {
        guard let stream = avformat_new_stream(context, nil) else { throw .outOfMemory(Self.operation) }
        let parameters = stream.pointee.codecpar!
        try check(avcodec_parameters_copy(parameters, sourceStream.pointee.codecpar), Self.operation)
        // Codec tags are specific to a container.
        parameters.pointee.codec_tag = 0
        parameters.pointee.initial_padding = CInt(lead)
        if parameters.pointee.codec_id == AV_CODEC_ID_OPUS, parameters.pointee.extradata_size >= 19 {
            parameters.pointee.extradata[10] = UInt8(truncatingIfNeeded: lead)
            parameters.pointee.extradata[11] = UInt8(truncatingIfNeeded: lead >> 8)
        }
        stream.pointee.time_base = AVRational(num: 1, den: CInt(settings.shape.rate))
        // A tag without a delay would make decoders drop their own 529 samples.
        let isUntagged = settings.format.container.gapless == .lameTag && lead == 0
        try start(
            settings, rate: settings.shape.rate, tags: tags, options: isUntagged ? [("write_xing", "0")] : [])
    }

    /// Players trust the delay and padding of a LAME tag only if they recognize the encoder's name.
    private borrowing func signTag(_ stream: UnsafeMutablePointer<AVStream>) {
        let version = avcodec_version()
        av_dict_set(&stream.pointee.metadata, "encoder", "Lavc\(version >> 16).\(version >> 8 & 255)", 0)
    }

    /// Writes a packet, interleaved with those of other streams if there are any, and clears it.
    borrowing func write(_ packet: borrowing Packet, rate: Int, stream index: Int = 0) throws(MediaError) {
        packet.enter(context.pointee.streams[index]!, rate: rate)
        let isAlone = context.pointee.nb_streams == 1
        try checked((isAlone ? av_write_frame : av_interleaved_write_frame)(context, packet.pointer))
        packet.clear()
    }

    /// Flushes the container and writes its trailer.
    package borrowing func finish() throws(MediaError) {
        // Flushing with an empty packet would leave Ogg's last page without its end-of-stream flag.
        try checked(av_write_trailer(context))
        avio_flush(sink.pointer)
        try checked(sink.pointer.pointee.error)
    }

    private borrowing func checked(_ code: CInt) throws(MediaError) {
        if let failure = sink.failure { throw failure }
        try check(code, Self.operation)
    }
}

/// A four-character code in libav's representation.
private func fourBytes(_ tag: String) -> UInt32 {
    tag.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
}
