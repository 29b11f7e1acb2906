import Bytes
import MediaTypes

/// What was found where a source ends.
struct FoundEnd {
    /// Why the container could not be read on, where that ended the source.
    var breakage: MediaError?
    /// Whether the end was looked at.
    var isKnown = false
    /// Whether bytes that are no audio follow all the audio that there should be.
    var isJunk = false
    /// Whether they are the beginning of something that belongs to the file.
    var isPart = false
    /// What a person should know of a source that was taken as it is.
    var warnings: [Warning] = []
}
