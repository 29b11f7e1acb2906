/// The progress of one of several outputs, for display.
package struct OutputProgress: Codable, Hashable, Sendable {
    /// The state of this output; the job's own phase is `Progress.phase`.
    package var phase: Phase
    /// The fraction of the output's samples that are processed.
    package var fraction: Double

    /// The state of an output while its job is converting.
    package enum Phase: String, Codable, Sendable, CaseIterable {
        /// It copies packets, and waits until the other outputs have read the source.
        case waiting
        case converting
        /// All its samples are processed, and the file is finished and read back.
        case checking
        /// It is complete, and waits for the others before it is published.
        case complete
        case failed
    }

    package init(_ phase: Phase, fraction: Double) {
        self.phase = phase
        self.fraction = fraction
    }

    enum CodingKeys: String, CodingKey {
        case phase
        case fraction = "progress"
    }
}
