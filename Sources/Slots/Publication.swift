package import JobSchema

/// What became of outputs that were to become visible.
package struct Publication: Sendable {
    /// Those that could not, while others were.
    package var failures: [Int: Failure] = [:]
    /// Those that were not made in the end, because something was there.
    package var skipped: Set<Int> = []
    /// What stores call the content of theirs.
    package var etags: [Int: String] = [:]
}
