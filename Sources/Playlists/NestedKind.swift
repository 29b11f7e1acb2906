/// What a playlist may name.
package enum NestedKind: Sendable {
    case playlist, segment, key
    /// The initialization section of segments (`EXT-X-MAP`).
    case map
}
