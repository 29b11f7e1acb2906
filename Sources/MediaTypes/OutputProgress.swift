/// How far one of several outputs is, for display.
package struct OutputProgress: Codable, Hashable, Sendable {
    package var phase: Phase
    /// The part of its samples that it has taken.
    package var fraction: Double

    /// What becomes of an output while its job converts.
    package enum Phase: String, Codable, Sendable, CaseIterable {
        /// It copies packets, which follows when the others are done with the source.
        case waiting
        case converting
        /// It has all its samples, and is ended and read back.
        case checking
        /// It waits for the others, to be published.
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
