import Bytes
import CLibav
import Containers
import Libav
import MediaTypes

/// Corrects the encoder delay and padding with which libav marks packets.
final class SkipSamplesMarker {
    private let stream: UnsafeMutablePointer<AVStream>
    private let source: any ByteSource
    private let codec: AVCodecID
    /// Whether the marks of libav are removed, because the delay is dropped from decoded samples: libav counts it in other units.
    private let isMovie: Bool
    /// Whether the last packet of a fragmented file may contain padding.
    private let mayEndEarly: Bool
    /// The offset of the media's times from those of packets.
    private let shift: Int64
    /// The rate of decoded samples.
    var rate: Int
    /// Timestamps that can be added without overflow. `AV_NOPTS_VALUE` is outside.
    private static let plausible = -(Int64(1) << 30)...Int64(1) << 55

    /// The offset of the last fragment, which is searched once.
    private var lastFragment: Int64?
    /// The duration of the packet before.
    private var usual: Int64 = 0

    /// Samples to drop, with which the next packet is marked, except if libav marks it.
    private var lead: Int64 = 0

    /// Reads what the container declares for a stream, which must outlive this object; `nil` if libav applies everything.
    init?(
        _ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>, _ padding: PaddingSource,
        _ edits: MovieEdits?
    ) {
        let parameters = stream.pointee.codecpar.pointee
        (self.source, self.stream, codec) = (source, stream, parameters.codec_id)
        rate = Int(parameters.sample_rate)
        switch padding {
        case .codecHeader:
            guard parameters.preskip > 0 else { return nil }
            (isMovie, mayEndEarly, shift) = (false, false, 0)
            lead = parameters.preskip
        case .editList:
            isMovie = true
            mayEndEarly = stream.pointee.nb_frames == 0 && !source.isEndless
            let edits = mayEndEarly ? edits : nil
            let scale = Int(stream.pointee.time_base.den)
            let late = edits?.delay.nearestSample(rate: scale) ?? 0
            shift = (edits?.edits.first?.media?.nearestSample(rate: scale) ?? 0) - late
        case .libav, .lameTag, .granules, .musepackHeader, .factChunk, .dataSize, .packetTable: return nil
        }
    }

    /// Marks a packet of the stream for the decoder, as libav does in other containers.
    func mark(_ packet: borrowing Packet) throws(MediaError) {
        if lead > 0 {
            defer { lead = 0 }
            let trimming = packet.trimming
            // libav reports these samples, except if the same packet has padding.
            if trimming.map({ $0.skip > 0 || $0.discard == 0 }) ?? true { return }
            return try packet.trim(skip: lead, discard: trimming?.discard ?? 0)
        }
        guard isMovie else { return }
        // libav also discards the packets of fragments whose times go back, as in joined files.
        packet.removeTrimming()
        // libav assumes that the last packet is as long as the others, and may not know the duration of the first.
        let end = stream.pointee.duration
        let usual = self.usual > 0 ? self.usual : packet.duration
        if mayEndEarly, usual > 0, rate > 0, Self.plausible.contains(end), let time = packet.timestamp,
            Self.plausible.contains(time), case let rest = end - shift - time, rest > 0, rest < usual,
            Self.isConstant(codec), try isLast(packet)
        {
            // One unit less may be due to rounding.
            let short = usual - rest
            let isExact = stream.pointee.time_base.den % CInt(rate) == 0
            let discard = av_rescale_q(short, stream.pointee.time_base, AVRational(num: 1, den: CInt(rate)))
            if short > (isExact ? 0 : 1) { try packet.trim(skip: 0, discard: discard) }
        }
        self.usual = packet.duration
    }

    /// Whether all packets of a codec have the same duration.
    private static func isConstant(_ codec: AVCodecID) -> Bool {
        [AV_CODEC_ID_AAC, AV_CODEC_ID_MP3, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3].contains(codec)
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
