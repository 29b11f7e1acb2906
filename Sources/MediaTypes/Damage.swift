/// The part of a source that could not be decoded.
package struct Damage: Codable, Hashable, Sendable {
    package var seconds: Double
    package var events: Int

    package static let none = Damage(seconds: 0, events: 0)

    package init(seconds: Double, events: Int) {
        self.seconds = seconds
        self.events = events
    }
}
