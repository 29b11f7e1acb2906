package import Bytes
import CLibav
package import Libav
package import MediaTypes

/// What an analysis pass found in a range, for one output.
package struct SoundMeasurement {
    /// Samples of each channel, at the source's rate.
    package var samples: Int64
    /// The loudness by EBU R 128, in the output's channels.
    package var loudness: Loudness?
    /// The range without the silence at both ends; `nil` if all of it is silent or trimming was not requested.
    package var sound: Range<Int64>?

    package init(samples: Int64, loudness: Loudness?, sound: Range<Int64>?) {
        self.samples = samples
        self.loudness = loudness
        self.sound = sound
    }
}

extension SoundSettings {
    /// Whether the range needs an analysis pass before the conversion.
    package var needsMeasurement: Bool {
        loudness != nil || replayGain != nil || trimSilence != nil || (fadeOut?.seconds ?? 0) > Self.longestHeld
    }

    /// The longest fade-out, in seconds, that is held in memory until the end is known.
    private static let longestHeld = 10.0

    /// The shape of the source's samples after channel selection and mixing.
    package func shape(of inputShape: SampleShape) throws(MediaError) -> SampleShape {
        var shape = inputShape
        if let channelMap { shape = try ChannelMap(channelMap, shape).output }
        if let mix { shape.layout = try ChannelMix(mix, shape.layout).output }
        if changesSamples { shape.format = AV_SAMPLE_FMT_FLTP }
        return shape
    }
}

extension SoundMeasurement {
    /// The tags of ReplayGain 2.0, or of RFC 7845 for Opus, for the output's level; empty for silence.
    ///
    /// The reference is −18 LUFS. For Opus it is −23 LUFS, and the gain is in units of 1/256 dB.
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
