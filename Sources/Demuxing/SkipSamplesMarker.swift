import Bytes
import CLibav
import Containers
import Libav

/// Marks packets with the encoder delay and padding that the container declares and libav does not apply.
final class SkipSamplesMarker {
    private let stream: UnsafeMutablePointer<AVStream>
    private let source: any ByteSource
    private let codec: AVCodecID
    /// The time of the packet that is marked with the delay, and the delay in samples.
    private let first: Int64
    private let delay: Int64
    /// Whether the last packet of a fragmented file may contain padding.
    private let mayEndEarly: Bool
    /// Timestamps that can be added without overflow. `AV_NOPTS_VALUE` is outside.
    private static let plausible = -(Int64(1) << 30)...Int64(1) << 55

    /// The offset of the last fragment, which is searched once.
    private var lastFragment: Int64?

    /// The timescale of Opus in MPEG-4 if it differs from the sample rate, because libav takes ticks before the audio for
    /// samples.
    private var opusScale: Int64?
    /// Opus samples so far that are decoded and dropped.
    private var unheard: Int64 = 0

    /// Samples to drop, with which the next packet is marked.
    private var lead: Int64 = 0
    /// Whether libav reports these samples, except if the same packet has padding.
    private var isLeadReported = false

    /// Reads what the container declares for a stream, which must outlive this object; `nil` if libav applies everything.
    ///
    /// `edit` is the edit list that libav was told to ignore.
    init?(
        _ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>, _ padding: PaddingSource, _ edit: MovieEdit?
    ) throws {
        let parameters = stream.pointee.codecpar.pointee
        let countsSamples = stream.pointee.time_base.num == 1 && stream.pointee.time_base.den == parameters.sample_rate
        (self.source, self.stream, codec) = (source, stream, parameters.codec_id)
        switch padding {
        case .packetTable:
            guard countsSamples, let table = try PacketTable(source), table.delay > 0 else { return nil }
            (first, delay, mayEndEarly) = (0, table.delay, false)
        case .codecHeader:
            guard parameters.preskip > 0 else { return nil }
            (first, delay, mayEndEarly) = (0, 0, false)
            (lead, isLeadReported) = (parameters.preskip, true)
        case .editList where edit != nil:
            (first, delay, mayEndEarly) = (0, 0, false)
            lead = av_rescale_q(
                edit!.start, stream.pointee.time_base, AVRational(num: 1, den: max(parameters.sample_rate, 1)))
        case .editList:
            if codec == AV_CODEC_ID_OPUS, stream.pointee.nb_frames > 0, !countsSamples,
                stream.pointee.time_base.num == 1
            {
                (first, delay, mayEndEarly) = (0, 0, false)
                opusScale = Int64(stream.pointee.time_base.den)
                return
            }
            // Without fragments, libav marks the packets itself. Opus declares its delay in its own header.
            guard stream.pointee.nb_frames == 0, !source.isEndless, codec != AV_CODEC_ID_OPUS, countsSamples,
                Self.plausible.contains(stream.pointee.start_time)
            else { return nil }
            // libav puts the first audible sample at time zero, as the edit list specifies, but does not drop the samples
            // before it.
            (first, delay, mayEndEarly) = (stream.pointee.start_time, max(-stream.pointee.start_time, 0), true)
        case .libav, .lameTag, .granules, .musepackHeader, .dataSize: return nil
        }
    }

    /// Marks a packet of the stream for the decoder, as libav does in other containers.
    func mark(_ packet: borrowing Packet) throws(MediaError) {
        if lead > 0 {
            defer { lead = 0 }
            let trimming = packet.trimming
            if isLeadReported, trimming.map({ $0.skip > 0 || $0.discard == 0 }) ?? true { return }
            return try packet.trim(skip: lead, discard: trimming?.discard ?? 0)
        }
        if let opusScale { return try markOpus(packet, scale: opusScale) }
        if delay > 0, packet.pointer.pointee.dts == first, packet.trimming == nil {
            try packet.trim(skip: delay, discard: 0)
        }
        // libav assumes that the last packet is as long as the others, and its stream duration includes the delay.
        let end = stream.pointee.duration
        guard mayEndEarly, Self.plausible.contains(end), let time = packet.timestamp, Self.plausible.contains(time),
            let length = frameLength(packet), case let rest = end - delay - time, rest > 0, rest < length,
            try isLast(packet)
        else { return }
        try packet.trim(skip: packet.trimming?.skip ?? 0, discard: length - rest)
    }

    /// Converts the ticks before the audio to samples, or uses the header's exact number if the ticks match it.
    private func markOpus(_ packet: borrowing Packet, scale: Int64) throws(MediaError) {
        guard !packet.isDiscarded else {
            unheard += Int64(PacketSamples.opus(packet.bytes) ?? 0)
            return
        }
        defer { unheard = 0 }
        guard let ticks = packet.trimming?.skip, ticks > 0 else { return }
        let (converted, exact) = (av_rescale(ticks, 48_000, scale), stream.pointee.codecpar.pointee.preskip - unheard)
        let isExact = exact >= 0 && abs(converted - exact) <= max(48_000 / scale, 1)
        try packet.trim(skip: isExact ? exact : converted, discard: packet.trimming?.discard ?? 0)
    }

    private func frameLength(_ packet: borrowing Packet) -> Int64? {
        if codec == AV_CODEC_ID_AAC { return Int64(stream.pointee.codecpar.pointee.frame_size) }
        guard [AV_CODEC_ID_MP3, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3].contains(codec) else { return nil }
        return FrameHeader.samples(codec, packet.bytes, whole: true).map { Int64($0) }
    }

    /// Whether it is the last packet of the last fragment.
    private func isLast(_ packet: borrowing Packet) throws(MediaError) -> Bool {
        let count = avformat_index_get_entries_count(stream)
        guard count > 0, let entry = avformat_index_get_entry(stream, count - 1),
            entry.pointee.pos == packet.offset
        else { return false }
        if let lastFragment { return packet.offset > lastFragment }
        do {
            let boxes = try Box(name: "", body: 0, end: source.length).places(of: "moof", SourceBytes(source))
            lastFragment = boxes.last ?? 0
        } catch { throw .unreadable(error) }
        return packet.offset > lastFragment ?? 0
    }
}
