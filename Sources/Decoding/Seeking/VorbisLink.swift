import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Handles later links of chained Vorbis, whose headers arrive as packets.
extension TrackDecoder {
    /// Whether the current packet begins another link.
    var beginsVorbisLink: Bool {
        track.codec == AV_CODEC_ID_VORBIS && packet.bytes.first == VorbisHeader.identification.rawValue
            && packet.bytes.starts(with: VorbisHeader.identification.mark)
    }

    /// Holds the headers of the link that the current packet begins, and its first audio packet, which outputs no samples.
    ///
    /// Earlier held packets are discarded, because the decoder restarts. Returns `false` if the link's format differs from the
    /// first one, or its headers are invalid.
    func keepLink(at sample: Int64) throws(MediaError) -> Bool {
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

    /// Sends the headers of the held link to the decoder; returns `false` if it refuses them.
    func sendLink() -> Bool {
        while held.link.takeFirst(into: packet) {
            guard decoder.send(packet) == nil else { return false }
        }
        return true
    }
}
