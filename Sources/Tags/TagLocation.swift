import Bytes
package import MediaTypes

// What each place of tags can store.
extension TagLocation {
    /// Whether the tags are those of QuickTime.
    package var isQuickTime: Bool { if case .movie(isQuickTime: true) = self { true } else { false } }

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

    /// The maximum number of chapters; `nil` without one. The comments of Ogg and FLAC number them with three digits (Xiph's chapter
    /// extension).
    var maxChapters: Int? {
        switch self {
        case .flacBlocks, .oggComment: 1000
        default: nil
        }
    }

    /// Whether a chapter can have a link.
    var takesChapterLinks: Bool { maxChapters != nil || takesChapterFrames }

    /// Whether the chapters are those of ID3, which can have pictures.
    var takesChapterFrames: Bool {
        switch self {
        case .id3Ahead, .waveChunks, .aiffChunk: true
        default: false
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
