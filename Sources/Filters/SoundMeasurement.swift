package import Bytes
import CLibav
package import Libav
package import MediaTypes

/// What a first reading of a range found, for one result.
package struct SoundMeasurement {
    /// Samples of each channel, at the source's rate.
    package var samples: Int64
    /// By EBU R 128, in the result's channels.
    package var loudness: Loudness?
    /// What is left without the silence at both ends; nothing if all is silent or nobody asked.
    package var sound: Range<Int64>?

    package init(samples: Int64, loudness: Loudness?, sound: Range<Int64>?) {
        self.samples = samples
        self.loudness = loudness
        self.sound = sound
    }
}

extension SoundSettings {
    /// Whether the range has to be read before it is converted.
    package var needsMeasurement: Bool {
        loudness != nil || replayGain != nil || trimSilence != nil || (fadeOut?.seconds ?? 0) > Self.longestHeld
    }

    /// Seconds that are kept in memory until the end is known.
    private static let longestHeld = 10.0

    /// Whether what a source says of its own level is no longer true.
    package var changesLevel: Bool { mix != nil || loudness != nil || gain != nil || truePeak != nil }

    /// Whether samples are changed, and so worked on as floats.
    var changesSamples: Bool {
        mix != nil || loudness != nil || gain != nil || fadeIn != nil || fadeOut != nil || ceiling != nil
            || resampler != .swr
    }

    /// The shape of a source's samples once channels are chosen and mixed.
    package func shape(of source: SampleShape) throws(MediaError) -> SampleShape {
        var shape = source
        if let channelMap { shape = try ChannelMap.open(channelMap, shape).output }
        if let mix { shape.layout = try ChannelMix(mix, shape.layout).output }
        if changesSamples { shape.format = AV_SAMPLE_FMT_FLTP }
        return shape
    }
}

extension SoundMeasurement {
    /// The tags of ReplayGain 2.0, or of RFC 7845 for Opus, for the level that the result will have; none for silence.
    ///
    /// The reference is −18 LUFS, and −23 LUFS for Opus, whose gain counts in 256ths of a decibel.
    package func replayGain(_ sound: SoundSettings, isOpus: Bool) -> [String: String] {
        guard let integrated = loudness?.integrated, let peak = loudness?.truePeak else { return [:] }
        let gain = sound.gain(loudness)
        if isOpus {
            let steps = ((-23 - integrated - gain) * 256).rounded()
            return ["R128_TRACK_GAIN": String(Int(min(max(steps, -32_768), 32_767)))]
        }
        let highest = min(peak + gain, sound.ceiling ?? .infinity)
        return [
            "REPLAYGAIN_TRACK_GAIN": decimal(-18 - integrated - gain, places: 2) + " dB",
            "REPLAYGAIN_TRACK_PEAK": decimal(factor(decibels: highest), places: 6),
        ]
    }
}
