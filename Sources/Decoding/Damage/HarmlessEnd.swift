import Bytes
import CLibav
import Containers

/// Ends of sources that look cut short though no sound, or no more than a part of a frame, is missing.
enum HarmlessEnd {
    /// Whether every sample of a track in MPEG-4 lies within the file, whatever the size of its last box says.
    static func holdsAll(
        _ stream: UnsafeMutablePointer<AVStream>, of source: any ByteSource, _ cut: HarmlessCut
    ) -> Bool {
        let count = avformat_index_get_entries_count(stream)
        // Of a fragmented file libav knows the samples only as it comes to them.
        guard case .afterIndexedSamples = cut, stream.pointee.nb_frames > 0, count > 0 else { return false }
        return (0..<count).allSatisfy { number in
            guard let entry = avformat_index_get_entry(stream, number)?.pointee else { return false }
            return entry.pos >= 0 && entry.pos.adding(Int64(entry.size)) <= source.length
        }
    }

    /// Whether a transport stream ends with a whole packet, as a recording does: its last frame may go on in one that came too
    /// late for it.
    static func isRecording(_ source: any ByteSource, _ cut: HarmlessCut) -> Bool {
        guard case .betweenTransportPackets = cut, !source.isEndless else { return false }
        let bytes = SourceBytes(source)
        // Packets of 188 bytes, behind a time stamp of four bytes, or before sixteen that correct errors.
        let forms: [(size: Int64, start: Int64)] = [(188, 0), (192, 4), (204, 0)]
        return forms.contains { form in
            guard source.length % form.size == 0 else { return false }
            let places = [form.start, form.start + form.size, source.length - form.size + form.start]
            return places.allSatisfy { (try? bytes.big(at: $0, 1)) == 0x47 }
        }
    }
}
