/// The processing of samples between decoder and encoder. By default samples do not change.
///
/// The order is: `channelMap`, `mix` and the output's layout; `highPass`; `trimSilence`; `tempo`; `loudness` or `gain`; fades; the output's sample
/// rate; the limiter.
package struct SoundSettings: Codable, Hashable, Sendable {
    /// The source channels to keep, in their new order.
    package var channelMap: [ChannelReference]?
    /// The gain of each source channel in each output channel.
    package var mix: MixMatrix?
    /// The frequency in Hz below which sound is removed.
    package var highPass: Double?
    /// The speed, without a change of pitch.
    package var tempo: Tempo?
    package var resampler = ResamplerEngine.swr
    /// The target integrated loudness in LUFS (EBU R 128).
    package var loudness: Double?
    /// The ceiling of the limiter in dBTP.
    package var truePeak: Double?
    /// Whether the limiter is off even if the level is raised.
    package var isUnlimited = false
    /// A change of level in dB.
    package var gain: Double?
    /// The length of the fade at the start.
    package var fadeIn: MediaTime?
    /// The length of the fade at the end.
    package var fadeOut: MediaTime?
    /// The silence to remove from both ends.
    package var trimSilence: SilenceTrim?
    /// The ReplayGain tags to write.
    package var replayGain: ReplayGain?
    /// The dither of samples that lose bits.
    package var dither: DitherMethod?

    package init() {}

    /// Frequencies in Hz of a high-pass filter.
    package static let highPasses = 1.0...20_000.0

    /// The settings that a required stream copy refuses before the source is read, by job field name.
    var requestedOfEncoding: [String: String] {
        let settings = ["dither": dither?.rawValue, "high_pass": highPass.map { "\($0)" }, "tempo": tempo?.description]
        return settings.compactMapValues(\.self)
    }

    /// The ceiling of the limiter in dBTP; `nil` if the limiter is off.
    package var ceiling: Double? {
        if isUnlimited { return nil }
        if let truePeak { return truePeak }
        return loudness != nil || (gain ?? 0) > 0 ? -1 : nil
    }
}

/// The engine of sample rate conversion.
package enum ResamplerEngine: String, Codable, Hashable, Sendable, CaseIterable {
    /// libswresample's resampler.
    case swr
    /// The SoX resampler at 28 bits.
    case soxr
}

/// The scope of ReplayGain.
package enum ReplayGain: String, Codable, Hashable, Sendable, CaseIterable {
    case track
}

/// The definition of silence.
package struct SilenceTrim: Codable, Hashable, Sendable {
    /// Samples at or below this level in dBFS are silent.
    package var threshold: Double
    /// Shorter silence is not trimmed, or not reported.
    package var minimum: MediaTime

    package init(threshold: Double, minimum: MediaTime = .zero) {
        self.threshold = threshold
        self.minimum = minimum
    }

    /// Parses `-60` or `-60,0.5`: decibels, and optionally seconds; `nil` if the text is invalid.
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
