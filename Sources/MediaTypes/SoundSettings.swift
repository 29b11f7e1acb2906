/// The processing of samples between decoder and encoder. By default samples do not change.
package struct SoundSettings: Codable, Hashable, Sendable {
    /// The source channels to keep, in their new order.
    package var channelMap: [ChannelReference]?
    /// The gain of each source channel in each output channel.
    package var mix: MixMatrix?
    /// The frequency in Hz below which sound is removed.
    package var highPass: Double?
    /// The frequency in Hz above which sound is removed.
    package var lowPass: Double?
    /// The speed, without a change of pitch.
    package var tempo: Tempo?
    /// The resampler that is used if the sample rate changes.
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

    /// Frequencies in Hz of a high-pass or low-pass filter.
    package static let cutoffs = 1.0...20_000.0

    /// The settings that the job requests, by job field name. Settings that the job leaves open are not included.
    package var requested: [String: String] {
        let settings = [
            "channel_map": channelMap?.map(\.description).joined(separator: ","), "mix": mix?.description,
            "resampler": resampler == .swr ? nil : resampler.rawValue, "gain": gain.map { "\($0)" },
            "loudness": loudness.map { "\($0)" }, "true_peak": truePeak.map { "\($0)" },
            "fade_in": fadeIn?.description, "fade_out": fadeOut?.description,
            "trim_silence": trimSilence?.description, "replay_gain": replayGain?.rawValue,
            "dither": dither?.rawValue, "tempo": tempo?.description, "high_pass": highPass.map { "\($0)" },
            "low_pass": lowPass.map { "\($0)" },
        ]
        return settings.compactMapValues(\.self)
    }

    /// Whether the level changes, so that the source's level tags are no longer true.
    package var changesLevel: Bool {
        mix != nil || highPass != nil || lowPass != nil || loudness != nil || gain != nil || truePeak != nil
    }

    /// Whether sample values change, so that the samples are processed as floats.
    package var changesSamples: Bool {
        mix != nil || highPass != nil || lowPass != nil || tempo != nil || loudness != nil || gain != nil
            || fadeIn != nil
            || fadeOut != nil || ceiling != nil || resampler != .swr
    }

    /// The settings that change what an analysis pass measures. Outputs for which they are equal share one measurement.
    package var measured: SoundSettings {
        var settings = self
        // They act after the measurement.
        (settings.resampler, settings.gain, settings.truePeak, settings.isUnlimited) = (.swr, nil, nil, false)
        (settings.fadeIn, settings.fadeOut, settings.dither, settings.replayGain) = (nil, nil, nil, nil)
        // Which loudness is the target changes nothing, but whether it is measured does.
        settings.loudness = loudness != nil || replayGain != nil ? 0 : nil
        return settings
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
