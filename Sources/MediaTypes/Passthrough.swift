/// Whether encoded audio is copied (stream copy) instead of decoded and encoded again.
package enum Passthrough: String, Codable, Hashable, Sendable, CaseIterable {
    /// Copies if the codec and the settings match and the cut stays exact.
    case auto
    case never
    /// Fails if an exact copy is not possible.
    case require
}
