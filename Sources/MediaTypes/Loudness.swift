/// The loudness of a range of audio, by EBU R 128.
package struct Loudness: Codable, Hashable, Sendable {
    /// Gated LUFS over the whole range; `nil` for silence.
    package var integrated: Double?
    /// The loudness range in LU (EBU Tech 3342).
    package var range: Double?
    /// dBTP; `nil` for silence.
    package var truePeak: Double?
    /// dBFS; `nil` for silence.
    package var samplePeak: Double?
    /// The maximum over 400 ms, in LUFS, if requested.
    package var momentary: Double?

    package init(
        integrated: Double? = nil, range: Double? = nil, truePeak: Double? = nil, samplePeak: Double? = nil,
        momentary: Double? = nil
    ) {
        self.integrated = integrated
        self.range = range
        self.truePeak = truePeak
        self.samplePeak = samplePeak
        self.momentary = momentary
    }

    enum CodingKeys: String, CodingKey {
        case integrated, range, momentary
        case truePeak = "true_peak"
        case samplePeak = "sample_peak"
    }
}

/// The loudness before and after a change of level.
package struct LoudnessChange: Codable, Hashable, Sendable {
    /// The source's range, in the output's channels.
    package var before: Loudness
    /// dB.
    package var gain: Double
    /// The output before encoding.
    package var after: Loudness

    package init(before: Loudness, gain: Double, after: Loudness) {
        self.before = before
        self.gain = gain
        self.after = after
    }
}
