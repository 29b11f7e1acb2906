import Libav
import MediaTypes

/// The gain that an encoder applies by itself.
enum EncoderGain {
    /// The factor by which the encoder scales all samples.
    ///
    /// LAME 3.100 takes the scale from the nearest row of its table of average bit rates (`apply_abr_preset` in presets.c). It
    /// applies no scale for variable bit rates.
    static func factor(_ settings: EncodingSettings) -> Double {
        guard settings.codec.lowersLevel, let rate = settings.bitRate else { return 1 }
        return switch rate {
        case ...176_000: 0.95
        case ...208_000: 0.97
        case ...240_000: 0.98
        default: 1
        }
    }
}
