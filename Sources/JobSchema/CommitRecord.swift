/// What `publish` stores before a result becomes visible, so that the job's next owner can recover it.
package struct CommitRecord: Codable, Hashable, Sendable {
    /// Every output of the job, including failed ones.
    package var outputs: [Output]
    /// Whether either all outputs are published or none.
    package var isAtomic: Bool

    package init(outputs: [Output], isAtomic: Bool = false) {
        self.outputs = outputs
        self.isAtomic = isAtomic
    }

    private enum CodingKeys: String, CodingKey {
        case outputs
        case isAtomic = "atomic"
    }

    /// One output: its staging location, and the content of its destination once it is published.
    package struct Output: Codable, Hashable, Sendable {
        /// The absolute path or URL of the destination.
        package var destination: String
        /// The absolute path of the staged file; its name contains the token, and it is linked to the destination when
        /// it is published.
        package var staged: String
        /// The additional files, which are staged as `<staged>~` and the first part of the SHA-256 of their names.
        package var parts: [PartNames]
        /// The output's report in the job's result.
        package var report: OutputReport
        /// What must not be replaced; `nil` if everything may be.
        package var overwrite: Overwrite?
        /// The staged file's inode number and modification time, which it keeps when it is published: a file with equal
        /// content but another identity belongs to another writer. The device is not stored, because other machines
        /// number it differently. `nil` if everything may be replaced.
        package var identity: String?

        /// Keeps the identity only if the output may not replace everything.
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

        /// Whether there is an output to publish.
        package var isStaged: Bool { report.isMade }
    }
}
