import Bytes
import MediaTypes

/// The location and form of tags in a format.
enum TagPlace {
    /// An ID3v2 tag before the audio.
    case id3Ahead
    /// An ID3v2 tag at the start of a segmented stream, which players show as the current title.
    case timedID3
    /// Metadata blocks after FLAC's first one.
    case flacBlocks
    /// The comment packet of an Ogg stream.
    case oggComment
    /// An `ilst` in the `moov` box.
    case movie(isQuickTime: Bool)
    /// Chunks after the audio of a RIFF file.
    case waveChunks
    /// An ID3v2 tag in a chunk of an AIFF file.
    case aiffChunk
    /// An APEv2 tag after the audio.
    case apeBehind
    /// Objects in the header of an ASF file.
    case asfHeader
    /// libav writes the tags.
    case dictionary(Dictionary)
    case none

    /// The capabilities of a container whose tags libav writes.
    struct Dictionary {
        /// The only supported names; `nil` if any name is supported.
        var names: [String]?
        var takesPictures: Bool
        var takesChapters: Bool
    }

    init(_ format: String) {
        switch format {
        case "mp3", "mp2", "adts": self = .id3Ahead
        case "hls": self = .timedID3
        case "flac": self = .flacBlocks
        case "ogg", "oga", "opus", "speex": self = .oggComment
        case "m4a", "m4b", "alac", "mp4": self = .movie(isQuickTime: false)
        case "mov": self = .movie(isQuickTime: true)
        case "wav", "rf64": self = .waveChunks
        case "aiff", "aifc": self = .aiffChunk
        case "wv", "tta": self = .apeBehind
        case "wma": self = .asfHeader
        case "mka": self = .dictionary(Dictionary(takesPictures: true, takesChapters: true))
        case "webm": self = .dictionary(Dictionary(takesPictures: false, takesChapters: true))
        case "caf": self = .dictionary(Dictionary(takesPictures: false, takesChapters: false))
        case "au":
            let names = ["TITLE", "ARTIST", "ALBUM", "TRACKNUMBER", "GENRE"]
            self = .dictionary(Dictionary(names: names, takesPictures: false, takesChapters: false))
        // Wave64 also has a list of tags, but libsndfile plays the bytes after the audio, and libav reserves no space before
        // it.
        default: self = .none
        }
    }

    var takesTexts: Bool {
        if case .none = self { false } else { true }
    }

    var takesChapters: Bool {
        switch self {
        case .apeBehind, .timedID3, .none: false
        case .dictionary(let dictionary): dictionary.takesChapters
        default: true
        }
    }

    /// Whether libav writes the chapters, separately from the tags.
    var hasLibavChapters: Bool {
        switch self {
        case .movie, .asfHeader: true
        case .dictionary(let dictionary): dictionary.takesChapters
        default: false
        }
    }

    func takes(_ picture: Metadata.Picture) -> Bool {
        switch self {
        case .timedID3, .none: false
        case .dictionary(let dictionary): dictionary.takesPictures
        case .movie: ["image/jpeg", "image/png", "image/gif", "image/bmp"].contains(picture.mediaType)
        default: true
        }
    }

    /// Whether libav must not write any tags, not even its name.
    var wantsNoneOfLibav: Bool {
        switch self {
        case .waveChunks, .aiffChunk, .apeBehind: true
        default: false
        }
    }
}
