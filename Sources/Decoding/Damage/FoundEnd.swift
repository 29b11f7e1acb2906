import Bytes
import MediaTypes

/// What was found at the end of a source.
struct FoundEnd {
    /// The error that stopped the demuxer before the end, if any.
    var breakage: MediaError?
    /// Whether the end was analyzed.
    var isKnown = false
    /// Whether bytes that are not audio follow the complete audio.
    var isJunk = false
    /// Whether these bytes are the beginning of a part of the file's format.
    var isPart = false
    /// Whether these bytes are tags of music files.
    var isTag = false
    /// Whether the last packet is a part of a frame, and is left out.
    var isInFrame = false
    /// Whether the last packet is a frame that lacked only bytes without sound.
    var isCompleted = false
    /// Warnings about a source that was accepted although its end is defective.
    var warnings: [Warning] = []
}
