/// How loud a stretch of audio is, by EBU R 128.
package struct Loudness: Codable, Hashable, Sendable {
    /// LUFS over the whole, gated; nothing for silence.
    package var integrated: Double?
    /// LU between soft and loud parts (EBU Tech 3342).
    package var range: Double?
    /// dBTP; nothing for silence.
    package var truePeak: Double?
    /// dB of full scale; nothing for silence.
    package var samplePeak: Double?
    /// The loudest 400 ms, in LUFS, where it was asked for.
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

/// What a change of loudness came to.
package struct LoudnessChange: Codable, Hashable, Sendable {
    /// The source's range, in the result's channels.
    package var before: Loudness
    /// dB.
    package var gain: Double
    /// The result, before it was encoded.
    package var after: Loudness

    package init(before: Loudness, gain: Double, after: Loudness) {
        self.before = before
        self.gain = gain
        self.after = after
    }
}
