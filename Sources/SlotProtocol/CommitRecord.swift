/// What `publish` writes down before a result becomes visible, so that the job's next owner can settle it.
package struct CommitRecord: Codable, Hashable, Sendable {
    package var outputs: [Output]

    package init(outputs: [Output]) {
        self.outputs = outputs
    }

    /// One output: where it waits, and what the destination holds once it is visible.
    package struct Output: Codable, Hashable, Sendable {
        /// Absolute path or URL of the destination.
        package var destination: String
        /// Absolute path under which the output waits: a name that holds the token, linked when it is published.
        package var staged: String
        package var report: OutputReport

        package init(destination: String, staged: String, report: OutputReport) {
            self.destination = destination
            self.staged = staged
            self.report = report
        }
    }
}
