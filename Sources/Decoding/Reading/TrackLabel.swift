package import CLibav
import Demuxing
import Libav

/// The language, title and disposition of an audio track.
package struct TrackLabel {
    /// The stream's index in the source.
    package let index: Int
    /// The language code in the container.
    package let language: String?
    /// The title in the container; `nil` if it has none.
    package let title: String?
    private let disposition: CInt

    /// Copies the values, so that the label outlives the stream's context.
    package init(_ stream: UnsafeMutablePointer<AVStream>) {
        func entry(_ name: String) -> String? {
            av_dict_get(stream.pointee.metadata, name, nil, 0).map { String(cString: $0.pointee.value) }
        }
        index = Int(stream.pointee.index)
        language = entry("language")
        title = entry("title")
        disposition = stream.pointee.disposition & Self.kept
    }

    /// The flags that apply to audio. The others concern video and subtitles.
    private static let kept =
        AV_DISPOSITION_DEFAULT | AV_DISPOSITION_DUB | AV_DISPOSITION_ORIGINAL | AV_DISPOSITION_COMMENT
        | AV_DISPOSITION_FORCED | AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED

    /// ISO 639-2 has two codes for each of these languages. libav's QuickTime muxer supports only one of them, and drops the
    /// other.
    private static let quickTime = [
        "deu": "ger", "fre": "fra", "nld": "dut", "swe": "sve", "ell": "gre", "isl": "ice", "zho": "chi", "sqi": "alb",
        "rum": "ron", "cze": "ces", "slo": "slk", "mkd": "mac",
    ]

    /// Applies the label to an output stream.
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
