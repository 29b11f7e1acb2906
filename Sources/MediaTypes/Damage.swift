/// What of a source could not be decoded.
package struct Damage: Codable, Hashable, Sendable {
    package var seconds: Double
    package var events: Int

    package init(seconds: Double, events: Int) {
        self.seconds = seconds
        self.events = events
    }
}
