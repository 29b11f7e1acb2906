package import Bytes
package import CLibav
import Containers
package import Libav

/// Corrects the first audio page of Vorbis in Ogg, for which libav does not apply the granule position completely.
///
/// The first Vorbis packet outputs no samples, because it only starts the overlap that the second one completes. If all audio
/// is in one page, libav nevertheless counts its length. All times are then late by that length, and as many audible samples
/// are dropped at the end.
///
/// If a page's granule position is less than the number of samples in its packets, the page begins before the audio does
/// (Vorbis I, A.2). libav then starts with negative times, and does not drop the samples.
///
/// Of later links of a chain, libav computes the padding with the block sizes of the first one, so it is counted here.
package struct VorbisPage: ~Copyable {
    private let source: any ByteSource
    private var lengths: PacketSamples
    /// The headers of a later link of the chain, which arrive as packets.
    private var headers: [[UInt8]] = []
    private var offset: Int64?
    private var excess: Int64 = 0
    /// Samples to drop, with which the next packet is marked.
    private var lead: Int64 = 0
    /// The granule position behind the last packet of a later link; `nil` if it is not counted.
    private var position: Int64?
    /// The page of the last packet of a later link, its number, and the end of the sound, if it ends on that page.
    private var last: (page: Int64, number: UInt32?, end: Int64?) = (-1, nil, nil)
    /// Granule positions to which samples can be added without overflow.
    private static let plausible = 0...Int64(1) << 55

    /// The stream must outlive this value.
    package init(_ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>) {
        self.source = source
        lengths = PacketSamples(stream)
    }

    /// Corrects the next packet of the stream.
    package mutating func mend(_ packet: borrowing Packet) throws(MediaError) {
        // The first bit distinguishes headers from audio (Vorbis I, 4.2.1 and 4.3.1).
        guard packet.bytes.first.map({ $0 & 1 == 0 }) == true else {
            offset = nil
            // The identification header is the first of three.
            if packet.bytes.first == 1 { headers = [] }
            if headers.count < 3 { headers.append(Array(packet.bytes)) }
            return
        }
        if offset == nil {
            try begin(packet)
        } else {
            let count = position == nil ? nil : lengths.samples(packet)
            if lead > 0 {
                try packet.trim(skip: lead, discard: packet.trimming?.discard ?? 0)
                lead = 0
            }
            try trimEnd(packet, samples: count.map { Int64($0) })
        }
        guard excess > 0, packet.offset == offset else { return }
        packet.delay(by: -excess)
        if position == nil, let trimming = packet.trimming, trimming.discard > 0 {
            try packet.trim(skip: trimming.skip, discard: max(trimming.discard - excess, 0))
        }
    }

    /// Reads the page of the first audio packet, which outputs no samples.
    private mutating func begin(_ packet: borrowing Packet) throws(MediaError) {
        offset = packet.offset
        excess = packet.timestamp == 0 ? packet.duration : 0
        lead = 0
        position = nil
        // The earlier data of an endless stream cannot be read.
        guard !source.isEndless, packet.offset >= 0, headers.isEmpty || lengths.restart(vorbis: headers) else { return }
        let isLater = !headers.isEmpty
        headers = []
        do {
            let start = try startOfSound(SourceBytes(source), packet.offset)
            lead = max(-start, 0)
            guard isLater else { return }
            position = start
            last = (-1, nil, nil)
            lengths.forget()
            _ = lengths.samples(packet)
        } catch { throw .unreadable(error) }
    }

    /// Marks the padding of a packet of a later link.
    private mutating func trimEnd(_ packet: borrowing Packet, samples: Int64?) throws(MediaError) {
        guard let position, let samples else { return self.position = nil }
        let end = position + samples
        self.position = end
        if packet.offset != last.page {
            do {
                let page = try OggPage(SourceBytes(source), at: packet.offset)
                let end = page?.granule.flatMap { Self.plausible.contains($0) ? $0 : nil }
                let isNext = last.number.map { page?.number == $0 &+ 1 } ?? true
                last = (packet.offset, page?.number, page?.isLast ?? false ? end : nil)
                // Behind a seek or missing pages, it is counted from this page, as from the first one.
                guard isNext else { return try recount(packet) }
            } catch { throw .unreadable(error) }
        }
        guard let sound = last.end else { return }
        let (skip, discard) = (packet.trimming?.skip ?? 0, min(max(end - sound, 0), samples))
        if skip > 0 || discard > 0 || packet.trimming != nil { try packet.trim(skip: skip, discard: discard) }
    }

    /// Counts from the first packet of a page, unless its position is unknown, as in the last page.
    private mutating func recount(_ packet: borrowing Packet) throws {
        let start = try startOfSound(SourceBytes(source), packet.offset)
        position = start > 0 ? start : nil
        lengths.forget()
        _ = lengths.samples(packet)
    }

    /// The granule position before the page's packets, which is negative if it has more samples than the position says; zero for a
    /// last page, whose lower granule position trims its end.
    private mutating func startOfSound(_ bytes: SourceBytes, _ offset: Int64) throws -> Int64 {
        guard let page = try OggPage(bytes, at: offset), let granule = page.granule,
            Self.plausible.contains(granule), !page.isLast,
            let lacing = page.lacing, let header = page.headerSize, let size = page.size,
            let body = try bytes.read(at: offset + Int64(header), size - header)
        else { return 0 }
        var (start, end, samples): (Int, Int, Int64?) = (0, 0, nil)
        // The headers, or the rest of one, may precede the audio in its page.
        var isRest = page.isContinued
        for segment in lacing {
            end += Int(segment)
            guard segment < 255 else { continue }
            defer { (start, isRest) = (end, false) }
            guard !isRest, body[start..<end].first.map({ $0 & 1 == 0 }) ?? false else { continue }
            let count = body[start..<end].withUnsafeBufferPointer { lengths.samples(beginning: $0) }
            guard let count else { return 0 }
            samples = samples.map { $0 + Int64(count) } ?? 0
        }
        return granule - (samples ?? 0)
    }
}
