/// Why a playlist cannot be read.
package struct PlaylistError: Error, Sendable {
    /// What callers switch over.
    package let reason: Reason
    /// One sentence for people.
    package let sentence: String

    /// What kind of failure it is.
    package enum Reason: Sendable {
        /// The playlist makes no sense.
        case corrupt
        /// The playlist names no audio, or not the audio that was asked for.
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

    /// A playlist that makes no sense, and why.
    package static func corrupt(_ why: String) -> PlaylistError { PlaylistError(.corrupt, "the HLS playlist \(why)") }
}
