package import CLibav
import Demuxing
import Libav

/// What a container says of one of its audio tracks beside the sound.
package struct TrackLabel {
    /// The stream's place in the source.
    package let index: Int
    package let language: String?
    package let title: String?
    private let disposition: CInt

    package init(_ stream: UnsafeMutablePointer<AVStream>) {
        func entry(_ name: String) -> String? {
            av_dict_get(stream.pointee.metadata, name, nil, 0).map { String(cString: $0.pointee.value) }
        }
        index = Int(stream.pointee.index)
        language = entry("language")
        title = entry("title")
        disposition = stream.pointee.disposition & Self.kept
    }

    /// Whom a track is for; the rest tells of pictures and texts.
    private static let kept =
        AV_DISPOSITION_DEFAULT | AV_DISPOSITION_DUB | AV_DISPOSITION_ORIGINAL | AV_DISPOSITION_COMMENT
        | AV_DISPOSITION_FORCED | AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED

    /// Of the two codes that ISO 639-2 has for these languages, libav's QuickTime muxer knows one, and drops the other.
    private static let quickTime = [
        "deu": "ger", "fre": "fra", "nld": "dut", "swe": "sve", "ell": "gre", "isl": "ice", "zho": "chi", "sqi": "alb",
        "rum": "ron", "cze": "ces", "slo": "slk", "mkd": "mac",
    ]

    /// Says the same of a stream that is to be written.
    package func apply(to stream: UnsafeMutablePointer<AVStream>, isQuickTime: Bool) {
        if let code = isQuickTime ? language.map({ Self.quickTime[$0] ?? $0 }) : language {
            av_dict_set(&stream.pointee.metadata, "language", code, 0)
        }
        if let title { av_dict_set(&stream.pointee.metadata, "title", title, 0) }
        stream.pointee.disposition = disposition
    }
}

extension Demuxer {
    /// The labels of all audio tracks, in the order of their numbers.
    var labels: [TrackLabel] { tracks.map { TrackLabel(stream($0.index)) } }
}
