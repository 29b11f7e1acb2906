/// Whether encoded audio is copied instead of decoded and encoded anew.
package enum Passthrough: String, Codable, Hashable, Sendable, CaseIterable {
    /// Where codec and settings already fit and the cut stays exact.
    case auto
    case never
    /// Fails where copying cannot be exact.
    case require
}
