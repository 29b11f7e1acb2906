/// Why a playlist cannot be read.
package struct PlaylistError: Error, Sendable {
    /// The kind of failure.
    package let reason: Reason
    /// A message for people.
    package let sentence: String

    /// The kind of failure.
    package enum Reason: Sendable {
        /// The playlist is malformed.
        case corrupt
        /// The playlist has no audio, or not the requested audio.
        case noAudio
        /// The segments are encrypted with DRM.
        case protected
        /// The source is a playlist, but not one of HTTP Live Streaming.
        case unsupported
    }

    init(_ reason: Reason, _ sentence: String) {
        self.reason = reason
        self.sentence = sentence
    }

    /// A malformed playlist, with the reason.
    package static func corrupt(_ why: String) -> PlaylistError { PlaylistError(.corrupt, "the HLS playlist \(why)") }
}
