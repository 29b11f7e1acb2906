/// What a running job is doing.
package enum Phase: String, Codable, Sendable, CaseIterable {
    case opening, waiting, analyzing, converting, publishing
}

/// How far a conversion is, for display.
package struct Progress: Codable, Hashable, Sendable {
    package var phase: Phase
    /// Seconds of the range that are converted.
    package var position: Double
    /// Seconds of the range, if known.
    package var duration: Double?
    /// Position ÷ duration, or an estimate by bytes where the duration is unknown.
    package var fraction: Double?
    /// Seconds of audio a second of time, over the last five seconds.
    package var speed: Double?
    /// Whether the fraction is only a guess, because the source does not tell its length.
    package var estimated: Bool
    /// Seconds of time until the conversion is done, by its pace over the last five seconds.
    package var eta: Double?
    /// Of each output in their order, where there are several and they are begun.
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
