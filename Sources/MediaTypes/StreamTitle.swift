/// A title that a radio station sent between the bytes of its stream.
package struct StreamTitle: Codable, Hashable, Sendable {
    /// Bytes of audio before it.
    package var offset: Int64
    package var title: String

    package init(offset: Int64, title: String) {
        self.offset = offset
        self.title = title
    }
}

/// A title, and when in a result it began.
package struct TimedTitle: Codable, Hashable, Sendable {
    /// Seconds.
    package var time: Double
    package var title: String

    package init(time: Double, title: String) {
        self.time = time
        self.title = title
    }
}
