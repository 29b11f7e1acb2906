/// What is done to samples between decoder and encoder; everything off leaves them as they are.
package struct SoundSettings: Codable, Hashable, Sendable {
    package init() {}
}
