/// What is done to samples between decoder and encoder; everything off leaves them as they are.
///
/// In this order: `channelMap`, `mix` and the result's own layout; `trimSilence`; `loudness` or `gain`; fades; the
/// result's sample rate; the limiter.
package struct SoundSettings: Codable, Hashable, Sendable {
    /// The source's channels that are kept, in their new order.
    package var channelMap: [ChannelReference]?
    /// How much of each source channel goes into each new one.
    package var mix: MixMatrix?
    package var resampler = ResamplerEngine.swr
    /// The integrated loudness that the result is to have, in LUFS (EBU R 128).
    package var loudness: Double?
    /// The highest true peak that the limiter lets through, in dBTP.
    package var truePeak: Double?
    /// Whether the limiter stays off even where the level is raised.
    package var isUnlimited = false
    /// A change of level in dB.
    package var gain: Double?
    package var fadeIn: MediaTime?
    package var fadeOut: MediaTime?
    package var trimSilence: SilenceTrim?
    package var replayGain: ReplayGain?

    package init() {}

    /// The ceiling of the limiter in dBTP; nothing where it does not run.
    package var ceiling: Double? {
        if isUnlimited { return nil }
        if let truePeak { return truePeak }
        return loudness != nil || (gain ?? 0) > 0 ? -1 : nil
    }
}

/// What changes sample rates.
package enum ResamplerEngine: String, Codable, Hashable, Sendable, CaseIterable {
    /// libswresample's own.
    case swr
    /// The SoX resampler at 28 bits.
    case soxr
}

/// What ReplayGain is written for.
package enum ReplayGain: String, Codable, Hashable, Sendable, CaseIterable {
    case track
}

/// What counts as silence, and how much of it is taken off.
package struct SilenceTrim: Codable, Hashable, Sendable {
    /// Samples at or below this level, in dB of full scale, are silent.
    package var threshold: Double
    /// Shorter silence is left, or not reported.
    package var minimum: MediaTime

    package init(threshold: Double, minimum: MediaTime = .zero) {
        self.threshold = threshold
        self.minimum = minimum
    }

    /// Reads `-60` or `-60,0.5`: decibels, and seconds; nothing if the text is neither.
    package init?(parsing text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let threshold = Double(parts[0]), (-120.0...0.0).contains(threshold) else {
            return nil
        }
        var minimum = MediaTime.zero
        if parts.count == 2 {
            guard let time = MediaTime(parsing: String(parts[1])), time.seconds <= 3600 else { return nil }
            minimum = time
        }
        self.init(threshold: threshold, minimum: minimum)
    }
}

extension SilenceTrim: CustomStringConvertible {
    package var description: String { "\(threshold),\(minimum)" }
}
