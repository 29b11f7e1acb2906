import Libav
import MediaTypes

/// What an encoder does to the level by itself.
enum EncoderGain {
    /// The factor by which the encoder lowers all samples.
    ///
    /// LAME 3.100 has a scale in its table of average bit rates (`apply_abr_preset` in presets.c), of which it takes the nearest
    /// row, and none for variable bit rates.
    static func factor(_ settings: EncodingSettings) -> Double {
        guard settings.codec.name == "mp3", let rate = settings.bitRate else { return 1 }
        return switch rate {
        case ...176_000: 0.95
        case ...208_000: 0.97
        case ...240_000: 0.98
        default: 1
        }
    }
}
