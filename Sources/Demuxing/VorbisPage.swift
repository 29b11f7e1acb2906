package import Bytes
package import CLibav
import Containers
package import Libav

/// The first page of sound of Vorbis in Ogg, of which libav does not do all that its granule position says.
///
/// The first packet of Vorbis only begins what the second one ends. libav counts its length all the same where all sound is in
/// one page, so that all times are late by it, and as many samples are dropped at the end that are none of the padding.
///
/// A page that counts fewer samples than its packets hold begins before the sound does (Vorbis I, A.2). libav has the times
/// begin below zero there, and drops nothing.
package struct VorbisPage: ~Copyable {
    private let source: any ByteSource
    private var lengths: PacketSamples
    /// The headers of a later link, which come as packets.
    private var headers: [[UInt8]] = []
    private var offset: Int64?
    private var excess: Int64 = 0
    /// Samples before the sound that the next packet is to be marked with.
    private var lead: Int64 = 0

    /// The stream must outlive this.
    package init(_ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>) {
        self.source = source
        lengths = PacketSamples(stream)
    }

    /// Puts the next packet of the stream right.
    package mutating func mend(_ packet: borrowing Packet) throws(MediaError) {
        // The first bit tells headers from sound (Vorbis I, 4.2.1 and 4.3.1).
        guard packet.bytes.first.map({ $0 & 1 == 0 }) == true else {
            offset = nil
            // The identification is the first of three.
            if packet.bytes.first == 1 { headers = [] }
            if headers.count < 3 { headers.append(Array(packet.bytes)) }
            return
        }
        if offset == nil {
            try begin(packet)
        } else if lead > 0 {
            try packet.trim(skip: lead, discard: packet.trimming?.discard ?? 0)
            lead = 0
        }
        guard excess > 0, packet.offset == offset else { return }
        packet.delay(by: -excess)
        if let trimming = packet.trimming, trimming.discard > 0 {
            try packet.trim(skip: trimming.skip, discard: max(trimming.discard - excess, 0))
        }
    }

    /// Looks at the page of the first packet of sound, of which no sample comes.
    private mutating func begin(_ packet: borrowing Packet) throws(MediaError) {
        offset = packet.offset
        excess = packet.timestamp == 0 ? packet.duration : 0
        lead = 0
        // What a stream without an end sent before is gone.
        guard !source.isEndless, packet.offset >= 0, headers.isEmpty || lengths.restart(vorbis: headers) else { return }
        headers = []
        do { lead = try samplesBeforeSound(SourceBytes(source), packet.offset) } catch { throw .unreadable(error) }
    }

    /// Samples of a page's packets that it does not count; none for a last page, which may count fewer for its end.
    private mutating func samplesBeforeSound(_ bytes: SourceBytes, _ offset: Int64) throws -> Int64 {
        guard let page = try OggPage(bytes, at: offset), let granule = page.granule, granule > 0, !page.isLast,
            let lacing = page.lacing, let header = page.headerSize, let size = page.size,
            let body = try bytes.read(at: offset + Int64(header), size - header)
        else { return 0 }
        var (start, end, samples): (Int, Int, Int64?) = (0, 0, nil)
        for segment in lacing {
            end += Int(segment)
            guard segment < 255 else { continue }
            let count = body[start..<end].withUnsafeBufferPointer { lengths.samples(beginning: $0) }
            guard let count else { return 0 }
            samples = samples.map { $0 + Int64(count) } ?? 0
            start = end
        }
        return max((samples ?? 0) - granule, 0)
    }
}
