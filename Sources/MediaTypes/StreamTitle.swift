/// A title that a radio station sent within its stream.
package struct StreamTitle: Codable, Hashable, Sendable {
    /// Bytes of audio before the title.
    package var offset: Int64
    /// The text that the station sent, usually the artist and the name of the song.
    package var title: String

    package init(offset: Int64, title: String) {
        self.offset = offset
        self.title = title
    }
}

/// A title with its start time in an output.
package struct TimedTitle: Codable, Hashable, Sendable {
    /// Seconds.
    package var time: Double
    /// The text that the station sent, usually the artist and the name of the song.
    package var title: String

    package init(time: Double, title: String) {
        self.time = time
        self.title = title
    }
}
