package import Bytes
package import CLibav
import CTagLimit
package import Containers
package import Libav
package import Lifecycle
package import MediaTypes

/// Reads packets from a container; owns an `AVFormatContext`.
package struct Demuxer: ~Copyable {
    /// libav's format context, valid during the lifetime of this value.
    package let context: UnsafeMutablePointer<AVFormatContext>
    /// libav's name of the container.
    package let formatName: String
    /// The properties of the container.
    package let descriptor: ContainerDescriptor
    /// libav's probe score, up to 100.
    let score: Int
    /// The bytes that libav reads: the source without hidden tags, and with corrected headers.
    package let bytes: any ByteSource
    /// The whole source.
    package let whole: any ByteSource
    /// Whether the header does not declare the source's length although it should.
    let isLengthUnknown: Bool
    /// Whether libav read only some of the tags.
    package private(set) var hasMoreTags = false
    /// Whether libav read only some of the chapters.
    package private(set) var hasMoreChapters = false
    /// The size of Matroska's attachments if they are too large, and hidden from libav; otherwise zero.
    package private(set) var attachmentBytes: Int64 = 0
    private let laterTags = LaterTags()
    private let source: SourceContext
    private let stop: CancellationFlag
    /// By stream index.
    private(set) var hidden: [Int: SkipSamplesMarker] = [:]
    /// The packets of raw MPEG audio, AC-3 and ADTS.
    private var frames: FramePackets?
    private var flush: MusepackFlush?
    /// The packets of AMR, by stream index.
    private var speech: [Int: SpeechFrames] = [:]

    private init(
        owning context: UnsafeMutablePointer<AVFormatContext>, _ descriptor: ContainerDescriptor, score: Int,
        _ whole: any ByteSource, _ bytes: any ByteSource, isLengthUnknown: Bool, source: consuming SourceContext,
        stop: CancellationFlag
    ) {
        self.context = context
        formatName = String(cString: context.pointee.iformat.pointee.name)
        self.descriptor = descriptor
        self.score = score
        self.whole = whole
        self.bytes = bytes
        self.isLengthUnknown = isLengthUnknown
        self.source = source
        self.stop = stop
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&context)
    }

    /// Detects the format of a source, unless its demuxer is given by name, and reads its headers.
    package static func open(_ whole: any ByteSource, as name: String? = nil, stop: CancellationFlag) throws(MediaError)
        -> Demuxer
    {
        _ = Self.boundMemory
        guard whole.length > 0 else { throw MediaError(.corruptMedia, operation, "the source is empty") }
        var source = try SourceContext.open(whole, stop: stop)
        let (format, score) = try recognize(whole, source, as: name)
        let container = Container(demuxer: String(cString: format.pointee.name)) ?? .generic
        let descriptor = container.descriptor
        let (bytes, isLengthUnknown): (any ByteSource, Bool)
        let view: OpeningView?
        let isBigEndian: Bool
        var isOnlySamples = false
        var attachmentBytes: Int64 = 0
        do {
            var shortened = try TrailingTags.hidden(whole, descriptor)
            if case .withoutSeekTable = descriptor.opening {
                shortened = try MusepackHeader.withoutSeekTable(shortened)
            }
            let resolved = try UnknownSize.resolved(shortened, descriptor)
            isLengthUnknown = resolved != nil
            bytes = try LeadingJunk.hidden(
                DeflatedTags.hidden(resolved ?? shortened, descriptor.tags, attachmentBytes: &attachmentBytes),
                descriptor.opening)
            switch descriptor.opening {
            case .asIs, .withoutEdits, .withoutSeekTable: (view, isBigEndian) = (nil, false)
            case .likeFrames: (view, isBigEndian) = (try OpeningView(bytes), false)
            case .samples:
                (view, isBigEndian) = (nil, try SourceBytes(bytes).isRIFX())
                isOnlySamples = try !bytes.isEndless && !WaveSamples.mayBeFrames(bytes)
                guard try bytes.isEndless || !WaveSamples.isOldWavPack(bytes) else {
                    throw MediaError(
                        .unsupportedFormat, operation, "the source is WavPack before version 4, which is not supported")
                }
            }
        } catch let error as MediaError { throw error } catch { throw .unreadable(error, operation) }
        if view != nil || bytes !== whole { source = try SourceContext.open(view ?? bytes, stop: stop) }
        var context = avformat_alloc_context()
        guard context != nil else { throw .outOfMemory(operation) }
        context!.pointee.pb = source.pointer
        context!.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { Unmanaged<CancellationFlag>.fromOpaque($0!).takeUnretainedValue().isRaised ? 1 : 0 },
            opaque: Unmanaged.passUnretained(stop).toOpaque())
        context!.pointee.io_open = { _, _, _, _, _ in av_swift_error(1) }
        av_opt_set(context, "format_whitelist", Self.whitelist, 0)
        av_opt_set(context, "codec_whitelist", CodecID.decoders, 0)
        av_opt_set(context, "protocol_whitelist", "", 0)
        if isOnlySamples { av_opt_set_int(context, "max_probe_packets", 1, 0) }
        // On failure, libav frees the context itself.
        var options = Options(descriptor.libavOptions)
        descriptor.limitTags(context)
        let code = avformat_open_input(&context, nil, format, &options.pointer)
        let excess = tag_limit_end(context)
        guard !excess.packet else {
            avformat_close_input(&context)
            throw largePacket
        }
        guard code >= 0 else { throw try refusal(bytes, source, format, descriptor, code) }
        if let view {
            view.reset()
            source.reread()
        }
        var demuxer = Demuxer(
            owning: context!, descriptor, score: score, whole, bytes, isLengthUnknown: isLengthUnknown,
            source: source, stop: stop)
        demuxer.attachmentBytes = attachmentBytes
        descriptor.limitTags(context)
        let probed = avformat_find_stream_info(context, nil)
        let more = tag_limit_end(context)
        guard !more.packet else { throw largePacket }
        demuxer.hasMoreTags = excess.tags || more.tags
        demuxer.hasMoreChapters = excess.chapters || more.chapters
        guard probed >= 0 else { throw try refusal(bytes, demuxer.source, format, descriptor, probed) }
        if let failure = demuxer.source.failure(operation) { throw failure }
        if let codec = view?.codec { demuxer.stream(0).pointee.codecpar.pointee.codec_id = codec }
        if isBigEndian { WaveSamples.correctByteOrder(demuxer.stream(0)) }
        demuxer.enlargePackets()
        try demuxer.findHidden()
        return demuxer
    }

    private static let operation = "open the source"

    /// The allowed demuxers, as in `AVFormatContext.format_whitelist`.
    private static let whitelist = Container.demuxers.sorted().joined(separator: ",")

    /// Limits a single allocation of libav, because a few bytes in a source can request a huge one, such as a compressed ID3
    /// frame. The index of a 100-hour MP4 file is smaller than the limit.
    private static let boundMemory: Void = av_max_alloc(512 << 20)

    /// Detects the container from the first bytes, and returns it with its score.
    private static func recognize(
        _ whole: any ByteSource, _ source: borrowing SourceContext, as name: String?
    ) throws(MediaError) -> (UnsafePointer<AVInputFormat>, Int) {
        if let name, let known = av_find_input_format(name) { return (known, Int(AVPROBE_SCORE_MAX)) }
        if let name = UnknownSize.container(beginning: source.peek(UnknownSize.headBytes))?.demuxers.first,
            let known = av_find_input_format(name)
        {
            return (known, Int(AVPROBE_SCORE_MAX))
        }
        var format: UnsafePointer<AVInputFormat>?
        let score = av_probe_input_buffer2(source.pointer, &format, nil, nil, 0, 0)
        if let failure = source.failure(operation) { throw failure }
        guard score >= leastScore, let format else {
            do {
                if let name = try FewFrames.container(whole)?.demuxers.first, let known = av_find_input_format(name) {
                    return (known, Int(AVPROBE_SCORE_MAX))
                }
            } catch { throw .unreadable(error, operation) }
            throw try unsupported(whole, nil)
        }
        let name = String(cString: format.pointee.name)
        guard Container(demuxer: name) != nil else {
            let kind = Container.isPlaylist(demuxer: name) ? "a playlist" : "not a supported audio or video format"
            throw try unsupported(whole, "the source is \(kind) (\(name))")
        }
        do {
            guard try score > doubtfulScore || !UnreadFormat.isSamples(whole) else {
                throw MediaError(
                    .unsupportedFormat, operation,
                    "the source seems to be samples of two equal channels without a header, whose rate and format are unknown"
                )
            }
        } catch let error as MediaError { throw error } catch { throw .unreadable(error, operation) }
        return (format, Int(score))
    }

    /// A format that is not read: what is known of it, otherwise the sentence.
    private static func unsupported(
        _ whole: any ByteSource, _ sentence: String?
    ) throws(MediaError) -> MediaError {
        do {
            let known = try UnreadFormat.sentence(whole) ?? sentence
            let text = try known ?? (UnreadFormat.isText(whole) ? "the source is text, not audio" : nil)
            return MediaError(.unsupportedFormat, operation, text ?? "the source's format is not recognized")
        } catch { throw .unreadable(error, operation) }
    }

    /// A lower score can result from a few random bytes: a single header suffices for MP3.
    private static let leastScore: CInt = 5

    private static let largePacket = MediaError(
        .tooLarge, operation,
        "a packet of the source, such as its comment, exceeds the limit of \(Metadata.maxCopiedBytes) bytes")

    /// The score of what a few bytes in each block have in common.
    private static let doubtfulScore = AVPROBE_SCORE_MAX / 4

    /// Enlarges packets of uncompressed audio beyond those that suit libav's stream analysis.
    private borrowing func enlargePackets() {
        guard let size = descriptor.packetBytes else { return }
        av_opt_set_int(context.pointee.priv_data, "max_size", Int64(size), 0)
    }

    /// Reads the delay and padding that libav does not report.
    private mutating func findHidden() throws(MediaError) {
        do {
            if case .lameTag = descriptor.padding, let track = tracks.first {
                let padding = try LayerPadding(XingHeader(bytes), context.pointee.metadata)
                frames = FramePackets(bytes, stream(track.index), padding)
            }
            if case .musepackHeader = descriptor.padding { flush = try MusepackFlush(bytes) }
            if case .frameHeaders = descriptor.seeking, let track = tracks.first,
                FrameHeader.isDolby(track.codec) || track.codec == AV_CODEC_ID_AAC
            {
                frames = FramePackets(bytes, stream(track.index), nil)
            }
            if case .granules = descriptor.padding { try OggDuration.correct(context, bytes) }
            let movie = descriptor.padding == .editList && !bytes.isEndless ? try MovieTracks(bytes) : nil
            if movie != nil { countFragmentsFromStart() }
            for track in tracks {
                let edits = try movie?.edits(of: track.index)
                applyEdits(edits, stream(track.index))
                speech[track.index] = SpeechFrames(stream(track.index))
                hidden[track.index] = SkipSamplesMarker(bytes, stream(track.index), descriptor.padding, edits)
            }
        } catch { throw .unreadable(error, Self.operation) }
    }

    /// Fragments may begin at any time, such as the time of day. libav counts the durations from zero.
    private borrowing func countFragmentsFromStart() {
        var last: Int64 = 0
        for index in 0..<Int(context.pointee.nb_streams) {
            let stream = self.stream(index)
            let (start, end) = (stream.pointee.start_time, stream.pointee.duration)
            guard stream.pointee.nb_frames == 0, start > 0, end > start else { continue }
            stream.pointee.duration = end - start
            last = max(last, av_rescale_q(end, stream.pointee.time_base, av_swift_time_base))
        }
        let start = context.pointee.start_time
        if start > 0, last > start, context.pointee.duration >= last { context.pointee.duration -= start }
    }

    /// Sets a stream's duration to that of its edits.
    private borrowing func applyEdits(_ edits: MovieEdits?, _ stream: UnsafeMutablePointer<AVStream>) {
        guard stream.pointee.nb_frames > 0, let edits,
            let length = edits.length(
                rate: Int(stream.pointee.time_base.den),
                frameLength: Int64(stream.pointee.codecpar.pointee.frame_size)), length > 0
        else { return }
        stream.pointee.duration = length
    }

    /// The reason why a container could not be opened.
    private static func refusal(
        _ bytes: any ByteSource, _ source: borrowing SourceContext, _ format: UnsafePointer<AVInputFormat>,
        _ descriptor: ContainerDescriptor, _ code: CInt
    ) throws(MediaError) -> MediaError {
        if let failure = source.failure(operation) { return failure }
        return try Refusal.error(bytes, format, descriptor, MediaError.Code(rawValue: code), operation)
    }

    /// The byte offset of the demuxer, for progress if times are unknown.
    package var bytePosition: Int64 { source.position }

    /// Warnings about the container.
    package var warnings: [Warning] {
        var warnings: [Warning] = []
        if isLengthUnknown {
            warnings.append(
                Warning(
                    .lengthUnknown,
                    "the source's header does not declare its length; it was read to its last byte, so truncation cannot be detected"
                ))
        }
        if laterTags.isExceeded {
            warnings.append(
                Warning(
                    .tagsDropped,
                    "a later part of the source has more than \(Metadata.maxTags) tags, and the others were left out"))
        }
        return warnings
    }

    /// The delay and padding of an MP3 file; `nil` if unknown.
    package var layerPadding: LayerPadding? { frames?.padding }

    /// The number of places with tags between frames so far.
    package var tagsBetweenFrames: Int { frames?.tags ?? 0 }

    /// The fraction of the bytes that has been read.
    package var byteFraction: Double { Double(bytePosition) / Double(max(bytes.length, 1)) }

    /// The duration in microseconds; `nil` if the container does not declare it and libav cannot estimate it.
    package var duration: Int64? { context.pointee.duration > 0 ? context.pointee.duration : nil }

    /// Whether the duration is only an estimate from the bit rate.
    package var durationIsEstimate: Bool {
        if case .guessed = descriptor.length { return true }
        return context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
    }

    /// The audio streams.
    package var tracks: [AudioTrack] {
        (0..<Int(context.pointee.nb_streams)).compactMap { index in
            let stream = context.pointee.streams[index]!
            return stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO ? AudioTrack(stream) : nil
        }
    }

    /// Whether packets of all streams are returned. If they cost little more, they show which bytes belong to no stream.
    package var givesAllPackets: Bool {
        switch descriptor.tracks {
        case .chosen: context.pointee.nb_streams == 1
        case .all: true
        }
    }

    /// Selects an audio stream, and discards the others.
    package borrowing func selectAudio(_ choice: TrackChoice = .best) throws(MediaError) -> AudioTrack {
        if tracks.isEmpty { try refuseUndetectedAudio() }
        let wanted = try TrackSelection.index(choice, context)
        for index in 0..<Int(context.pointee.nb_streams) where index != wanted && !givesAllPackets {
            context.pointee.streams[index]!.pointee.discard = AVDISCARD_ALL
        }
        return AudioTrack(context.pointee.streams[wanted]!)
    }

    /// A stream, valid during the demuxer's lifetime.
    package func stream(_ index: Int) -> UnsafeMutablePointer<AVStream> { context.pointee.streams[index]! }

    /// Reads the next packet of any stream; returns `false` at the end of the source.
    package borrowing func next(into packet: borrowing Packet) throws(MediaError) -> Bool {
        if let frames {
            while try !frames.frame(into: packet) {
                packet.clear()
                do {
                    guard try read(into: packet) else { return false }
                } catch {
                    guard case .corruptMedia = error.reason, try frames.skip(to: bytePosition) else { throw error }
                    continue
                }
                if try frames.accept(packet, position: bytePosition) { break }
            }
            return true
        }
        if try !speechFrame(into: packet) {
            guard try read(into: packet) else { return try flush?.next(into: packet) ?? false }
            flush?.read(packet, position: bytePosition)
            speech[packet.streamIndex]?.accept(packet)
        }
        if !hidden.isEmpty { try hidden[packet.streamIndex]?.mark(packet) }
        return true
    }

    /// Reads the next frame of the last packet of AMR; returns `false` if there is none.
    private borrowing func speechFrame(into packet: borrowing Packet) throws(MediaError) -> Bool {
        for frames in speech.values { if try frames.frame(into: packet) { return true } }
        return false
    }

    private borrowing func read(into packet: borrowing Packet) throws(MediaError) -> Bool {
        if stop.isRaised { throw .stopped }
        // Another link of a chained file has tags too.
        descriptor.limitTags(context)
        let code = av_read_frame(context, packet.pointer)
        let excess = tag_limit_end(context)
        guard !excess.packet else { throw Self.largePacket }
        if excess.tags { laterTags.isExceeded = true }
        if code >= 0 { return true }
        if let failure = source.failure("read the source") { throw failure }
        guard code != av_swift_error_eof else { return false }
        throw MediaError(.corruptMedia, "read the source", code: .init(rawValue: code))
    }

    /// Continues behind invalid bytes; returns `false` if no readable data follows.
    package borrowing func resume(_ bytes: any ByteSource) throws(MediaError) -> Bool {
        switch descriptor.framing {
        // These demuxers resynchronize by themselves.
        case .container, .nothing, .chain: return true
        case .wavPackBlocks:
            // The demuxer reads 32 bytes at a time to find the next header.
            do {
                guard let next = try SourceBytes(bytes).find("wvpk", from: bytePosition - 31) else { return false }
                // The data from there begins with a block, so this position counts as progress.
                return avio_seek(context.pointee.pb, next, SEEK_SET) >= 0
            } catch { throw .unreadable(error) }
        }
    }

    /// Seeks to a packet at or before a time in units of the stream's time base; returns `false` if the container does not
    /// support it.
    package borrowing func seek(to time: Int64, stream: Int) throws(MediaError) -> Bool {
        frames?.forget()
        for frames in speech.values { frames.forget() }
        descriptor.limitTags(context)
        let code = avformat_seek_file(context, CInt(stream), Int64.min, time, time, 0)
        let excess = tag_limit_end(context)
        guard !excess.packet else { throw Self.largePacket }
        if excess.tags { laterTags.isExceeded = true }
        if let failure = source.failure("seek in the source") { throw failure }
        return code >= 0
    }

    /// Seeks to a byte offset where a packet begins, behind samples that were not read; returns `false` if the container does not
    /// support it.
    package borrowing func seek(toByte offset: Int64, stream: Int, passing samples: Int64) throws(MediaError) -> Bool {
        frames?.move(to: offset, passing: samples)
        for frames in speech.values { frames.forget() }
        let code = av_seek_frame(context, CInt(stream), offset, AVSEEK_FLAG_BYTE)
        if let failure = source.failure("seek in the source") { throw failure }
        return code >= 0
    }
}

extension ContainerDescriptor {
    /// The options of libav's demuxer.
    fileprivate var libavOptions: [(String, String)] {
        if opening == .withoutEdits { return [("advanced_editlist", "0")] }
        // libav's stream analysis reads fifty packets. By default, those of libav 7 are larger.
        return packetBytes == nil ? [] : [("max_size", "4096")]
    }

    /// Limits what libav reads of tags, chapters and packets of Ogg on this thread, until `tag_limit_end`.
    fileprivate func limitTags(_ context: UnsafeMutablePointer<AVFormatContext>?) {
        let packet = if case .oggComment = tags { UInt64(Metadata.maxCopiedBytes) } else { UInt64.max }
        tag_limit_begin(context, Int64(Metadata.maxTags), Int64(Metadata.maxCopiedBytes), packet)
    }
}

/// Whether a later part of a source, such as another link of a chained file, has more tags than are read.
private final class LaterTags {
    var isExceeded = false
}
