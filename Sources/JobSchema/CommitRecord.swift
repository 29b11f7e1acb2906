/// What `publish` writes down before a result becomes visible, so that the job's next owner can recover it.
package struct CommitRecord: Codable, Hashable, Sendable {
    /// Every output of the job, those that failed too.
    package var outputs: [Output]
    /// Whether all of them are to appear, or none.
    package var isAtomic: Bool

    package init(outputs: [Output], isAtomic: Bool = false) {
        self.outputs = outputs
        self.isAtomic = isAtomic
    }

    private enum CodingKeys: String, CodingKey {
        case outputs
        case isAtomic = "atomic"
    }

    /// One output: where it waits, and what the destination holds once it is visible.
    package struct Output: Codable, Hashable, Sendable {
        /// Absolute path or URL of the destination.
        package var destination: String
        /// Absolute path under which the output waits: a name that holds the token, linked when it is published.
        package var staged: String
        /// The files beside the main one, which wait beside it as `<staged>~` and the beginning of their names' SHA-256.
        package var parts: [PartNames]
        package var report: OutputReport
        /// What may not be replaced; nothing where everything may.
        package var overwrite: Overwrite?
        /// The staged file's number in its file system and when it was written, which it keeps when it is published: an equal file of
        /// that name is another's. Of the device nothing is noted, which other machines number differently. Nothing where everything
        /// may be replaced.
        package var identity: String?

        package init(
            destination: String, staged: String, parts: [PartNames] = [], report: OutputReport,
            overwrite: Overwrite = .replace, identity: String? = nil
        ) {
            self.destination = destination
            self.staged = staged
            self.parts = parts
            self.report = report
            self.overwrite = overwrite == .replace ? nil : overwrite
            self.identity = overwrite == .replace ? nil : identity
        }

        /// Whether there is something to publish.
        package var isStaged: Bool { report.isMade }
    }
}
