/// The phase of a running job.
package enum Phase: String, Codable, Sendable, CaseIterable {
    case opening, waiting, analyzing, converting, publishing
}

/// The progress of a conversion, for display.
package struct Progress: Codable, Hashable, Sendable {
    /// The current phase; a job may skip some, such as the analysis.
    package var phase: Phase
    /// Seconds of the range that are converted.
    package var position: Double
    /// Seconds of the range, if known.
    package var duration: Double?
    /// The position divided by the duration, or an estimate by bytes if the duration is unknown.
    package var fraction: Double?
    /// Seconds of audio per second, over the last five seconds.
    package var speed: Double?
    /// Whether the fraction is an estimate, because the source does not declare its duration.
    package var estimated: Bool
    /// The estimated seconds until the conversion is done, from the speed over the last five seconds.
    package var eta: Double?
    /// The progress of each output, in their order, if there are several and they are open.
    package var outputs: [OutputProgress]

    package init(
        phase: Phase, position: Double = 0, duration: Double? = nil, fraction: Double? = nil, speed: Double? = nil,
        estimated: Bool = false, eta: Double? = nil, outputs: [OutputProgress] = []
    ) {
        self.estimated = estimated
        self.eta = eta
        self.outputs = outputs
        self.phase = phase
        self.position = position
        self.duration = duration
        self.fraction = fraction
        self.speed = speed
    }
}
