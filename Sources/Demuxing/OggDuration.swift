import Bytes
import CLibav
import Containers

/// The duration of Ogg files that libav computes from the last granule position alone.
enum OggDuration {
    /// More pages than headers with pictures have.
    private static let maxPages = 4096

    /// Corrects the duration of the only stream: that of a chain is the sum of its links, and recordings of live streams of Opus and
    /// FLAC do not begin at zero.
    static func correct(_ context: UnsafeMutablePointer<AVFormatContext>, _ source: any ByteSource) throws {
        guard context.pointee.nb_streams == 1, !source.isEndless, let stream = context.pointee.streams[0] else {
            return
        }
        if try OggChain.isChain(source) {
            context.pointee.duration_estimation_method = AVFMT_DURATION_FROM_BITRATE
            guard let seconds = try OggChain.seconds(source) else { return }
            context.pointee.duration = Int64(seconds * Double(AV_TIME_BASE))
            stream.pointee.duration = av_rescale_q(
                context.pointee.duration, av_swift_time_base, stream.pointee.time_base)
            return
        }
        guard [AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC].contains(stream.pointee.codecpar.pointee.codec_id),
            let start = try granule(of: stream, SourceBytes(source)), start > 0, start <= stream.pointee.duration
        else { return }
        stream.pointee.duration -= start
        let time = av_rescale_q(start, stream.pointee.time_base, av_swift_time_base)
        if context.pointee.duration > time { context.pointee.duration -= time }
    }

    /// The granule position before the first packet with samples; `nil` if unknown.
    private static func granule(of stream: UnsafeMutablePointer<AVStream>, _ bytes: SourceBytes) throws -> Int64? {
        var lengths = PacketSamples(stream, countsLinearPrediction: true)
        var (offset, samples): (Int64, Int64) = (0, 0)
        var packet: [UInt8] = []
        for _ in 0..<maxPages {
            guard let page = try OggPage(bytes, at: offset), let size = page.size, let header = page.headerSize,
                let lacing = page.lacing, var body = try bytes.read(at: offset + Int64(header), size - header)?[...]
            else { return nil }
            for segment in lacing {
                // The first bytes of a packet tell its length.
                if packet.isEmpty { packet += body.prefix(Int(segment)) }
                body = body.dropFirst(Int(segment))
                guard segment < 255 else { continue }
                // The headers of Opus; those of FLAC are no frames.
                if !packet.starts(with: "Opus".utf8) {
                    samples += packet.withUnsafeBufferPointer { Int64(lengths.samples(beginning: $0) ?? 0) }
                }
                packet = []
            }
            if samples > 0, let granule = page.granule { return granule > samples ? granule - samples : nil }
            offset += Int64(size)
        }
        return nil
    }
}
