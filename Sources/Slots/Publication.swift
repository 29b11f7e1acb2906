package import JobSchema

/// The results of publishing outputs.
package struct Publication: Sendable {
    /// Outputs that could not be published, while others were.
    package var failures: [Int: Failure] = [:]
    /// Outputs that were skipped when they were published, because their location had a file by then.
    package var skipped: Set<Int> = []
    /// The ETags of outputs in stores.
    package var etags: [Int: String] = [:]
}
