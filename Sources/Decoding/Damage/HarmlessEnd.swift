import Bytes
import CLibav
import Containers
import MediaTypes

/// Detects sources that end early although no audio, or only part of a frame, is missing.
enum HarmlessEnd {
    /// The warning about an end after which no audio is missing.
    static let warning = Warning(
        .sourceTruncated, "the source is truncated after its last sample; no audio is missing")

    /// Whether all samples of an MPEG-4 track are in the file, whatever the size of its last box is.
    static func holdsAll(
        _ stream: UnsafeMutablePointer<AVStream>, of source: any ByteSource, _ cut: HarmlessCut
    ) -> Bool {
        switch cut {
        case .none, .betweenTransportPackets, .insideReads: return false
        case .afterIndexedSamples:
            let count = avformat_index_get_entries_count(stream)
            // For a fragmented file, libav only has the samples read so far.
            guard stream.pointee.nb_frames > 0, count > 0 else { return false }
            return (0..<count).allSatisfy { number in
                guard let entry = avformat_index_get_entry(stream, number)?.pointee else { return false }
                return entry.pos >= 0 && entry.pos.adding(Int64(entry.size)) <= source.length
            }
        }
    }

    /// Whether a transport stream ends with a complete transport packet, as a stopped recording does. The rest of its last
    /// frame may be in a packet that was not recorded.
    static func isRecording(_ source: any ByteSource, _ cut: HarmlessCut) -> Bool {
        guard case .betweenTransportPackets = cut, !source.isEndless else { return false }
        let bytes = SourceBytes(source)
        return TransportPackets.forms.contains { form in
            guard source.length % form.size == 0 else { return false }
            let places = [form.sync, form.sync + form.size, source.length - form.size + form.sync]
            return places.allSatisfy { (try? bytes.big(at: $0, 1)) == 0x47 }
        }
    }
}
