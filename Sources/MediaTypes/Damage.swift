/// The part of a source that could not be decoded.
package struct Damage: Codable, Hashable, Sendable {
    /// Seconds of lost audio.
    package var seconds: Double
    /// The number of damaged locations.
    package var events: Int

    /// The damage of an intact source.
    package static let none = Damage(seconds: 0, events: 0)

    package init(seconds: Double, events: Int) {
        self.seconds = seconds
        self.events = events
    }
}
