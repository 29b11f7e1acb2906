import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// The later links of chained Vorbis, whose headers come as packets among the others.
extension TrackDecoder {
    /// Whether the packet in hand begins another link than the first.
    var beginsVorbisLink: Bool {
        track.codec == AV_CODEC_ID_VORBIS && packet.bytes.first == VorbisHeader.identification.rawValue
            && packet.bytes.starts(with: VorbisHeader.identification.mark)
    }

    /// Keeps the headers of the link that the packet in hand begins, and its first packet of sound, which no sample comes of.
    ///
    /// What came before is let go: the decoder begins anew. False if the link is not like the first, or makes no sense.
    mutating func keepLink(at sample: Int64) throws(MediaError) -> Bool {
        held.ring.clear()
        held.link.clear()
        var headers: [[UInt8]] = []
        for _ in 0..<3 {
            headers.append(Array(packet.bytes))
            try held.link.append(packet, start: sample)
            guard try readTrack() else { return false }
        }
        let head = headers[0]
        guard head.count >= 16, Int(head[11]) == track.channels,
            head[12..<16].reversed().reduce(0, { $0 << 8 | Int($1) }) == track.rate,
            lengths.restart(vorbis: headers), lengths.samples(packet) != nil
        else { return false }
        try held.ring.append(packet, start: sample)
        return true
    }

    /// Gives the decoder the headers of the link that the packets kept are of; false if it does not take them.
    mutating func sendLink() -> Bool {
        while held.link.takeFirst(into: packet) {
            guard decoder.send(packet) == nil else { return false }
        }
        return true
    }
}
