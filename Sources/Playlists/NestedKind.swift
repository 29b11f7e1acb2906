/// The kinds of files that a playlist can reference.
package enum NestedKind: Sendable {
    case playlist, segment, key
    /// The initialization section of segments (`EXT-X-MAP`).
    case map
}
