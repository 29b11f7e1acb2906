package import SlotProtocol

/// What became of outputs that were to become visible.
package struct Publication: Sendable {
    /// Those that could not, while others were.
    package var failures: [Int: Failure] = [:]
    /// What stores call the content of theirs.
    package var etags: [Int: String] = [:]
}
