import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Reads the tags, pictures and chapters that libav finds in a source.
enum LibavTags {
    static func of(_ demuxer: borrowing Demuxer, _ track: AudioTrack) throws -> Metadata {
        var metadata = Metadata()
        var links: [String: String] = [:]
        // Ogg's tags belong to the stream, other tags to the container. The stream's take precedence.
        for dictionary in [demuxer.context.pointee.metadata, demuxer.stream(track.index).pointee.metadata] {
            for (name, value) in entries(dictionary) {
                let name = TagName.neutral(name)
                if TagName.isChapter(name) { links[name] = value }
                if !TagName.isAboutTheFile(name) { metadata.texts[name] = [value] }
            }
        }
        // The language belongs to the track, and is reported with it.
        metadata.texts["LANGUAGE"] = nil
        metadata.pictures = pictures(demuxer)
        metadata.chapters = try chapters(demuxer, links: links)
        return metadata
    }

    /// A dictionary's entries.
    private static func entries(_ dictionary: OpaquePointer?) -> [(String, String)] {
        var entries: [(String, String)] = []
        var entry = av_dict_get(dictionary, "", nil, AV_DICT_IGNORE_SUFFIX)
        while let found = entry {
            entries.append((String(cString: found.pointee.key), String(cString: found.pointee.value)))
            entry = av_dict_get(dictionary, "", found, AV_DICT_IGNORE_SUFFIX)
        }
        return entries
    }

    private static func pictures(_ demuxer: borrowing Demuxer) -> [Metadata.Picture] {
        (0..<Int(demuxer.context.pointee.nb_streams)).compactMap { index in
            let stream = demuxer.stream(index)
            guard stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0,
                let start = stream.pointee.attached_pic.data, stream.pointee.attached_pic.size > 0,
                let mediaType = mediaType(stream.pointee.codecpar.pointee.codec_id)
            else { return nil }
            let entries = Dictionary(entries(stream.pointee.metadata)) { first, _ in first }
            let kind = entries["comment"].flatMap { kinds.firstIndex(of: $0.lowercased()) }
            let name = entries["filename"]?.lowercased() ?? ""
            return Metadata.Picture(
                kind: kind ?? (name.hasPrefix("cover") ? 3 : 0), mediaType: mediaType,
                description: entries["title"] ?? "",
                bytes: Array(UnsafeBufferPointer(start: start, count: Int(stream.pointee.attached_pic.size))))
        }
    }

    private static func mediaType(_ codec: AVCodecID) -> String? {
        switch codec {
        case AV_CODEC_ID_MJPEG: "image/jpeg"
        case AV_CODEC_ID_PNG: "image/png"
        case AV_CODEC_ID_GIF: "image/gif"
        case AV_CODEC_ID_BMP: "image/bmp"
        case AV_CODEC_ID_WEBP: "image/webp"
        case AV_CODEC_ID_TIFF: "image/tiff"
        default: nil
        }
    }

    /// libav's names of ID3 picture types, in numeric order.
    private static let kinds = [
        "other", "32x32 pixels 'file icon'", "other file icon", "cover (front)", "cover (back)", "leaflet page",
        "media (e.g. label side of cd)", "lead artist/lead performer/soloist", "artist/performer", "conductor",
        "band/orchestra", "composer", "lyricist/text writer", "recording location", "during recording",
        "during performance", "movie/video screen capture", "a bright coloured fish", "illustration",
        "band/artist logotype", "publisher/studio logotype",
    ]

    /// The chapters. `links` has the comments that libav takes for tags, by name.
    private static func chapters(
        _ demuxer: borrowing Demuxer, links: [String: String]
    ) throws -> [Metadata.Chapter] {
        let nanoseconds = AVRational(num: 1, den: 1_000_000_000)
        let longest = Int64(1) << 60
        let count = Int(demuxer.context.pointee.nb_chapters)
        let isMovie = if case .movieBoxes = demuxer.descriptor.tags { true } else { false }
        let wide = isMovie && count > 0 ? try MovieChapters.wideTitles(demuxer) : [:]
        return (0..<count).map { index in
            let chapter = demuxer.context.pointee.chapters[index]!.pointee
            let title =
                wide[chapter.id]
                ?? av_dict_get(chapter.metadata, "title", nil, 0).map { String(cString: $0.pointee.value) }
            let start = av_rescale_q(chapter.start, chapter.time_base, nanoseconds)
            let end =
                chapter.end == av_swift_no_timestamp ? start : av_rescale_q(chapter.end, chapter.time_base, nanoseconds)
            // A header may contain any number. The limit ensures that sums of these times fit in 64 bits.
            let (first, last) = (min(max(start, 0), longest), min(max(end, 0), longest))
            return Metadata.Chapter(
                start: first, end: max(last, first), title: title ?? "",
                link: links[TagName.chapter(chapter.id) + "URL"] ?? "")
        }
    }
}
