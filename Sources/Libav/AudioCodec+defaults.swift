import CLibav
import MediaTypes

/// The default settings of a codec.
extension AudioCodec {
    /// The supported sample rate nearest to the source's, for a codec that accepts a range of rates.
    func nearestRate(_ rate: Int) -> Int {
        let clamped = min(max(rate, lowestSampleRate), highestSampleRate)
        return takes(sampleRate: clamped) ? clamped : (clamped + 9) / 10 * 10
    }

    /// The default VBR quality if the job sets neither quality nor bit rate.
    var defaultQuality: Double? { name == "vorbis" ? 4 : nil }

    /// The default bit rate if the job sets neither quality nor bit rate.
    func defaultBitRate(rate: Int, channels: Int) -> Int {
        switch name {
        case "opus": return channels == 1 ? 64_000 : 48_000 * channels
        case "ac3", "eac3": return [96_000, 192_000, 256_000, 320_000, 384_000, 448_000][min(channels, 6) - 1]
        case "mp2": return (rate >= 32_000 ? 96_000 : 64_000) * channels
        case "speex": return rate == 8000 ? 15_000 : 28_000
        default: break
        }
        let each = rate >= 32_000 ? 64_000 : rate >= 16_000 ? 48_000 : 32_000
        return each * channels
    }

    /// The sample format of the encoder's input. `unchanged` means that neither the rate nor the channels change.
    func input(_ stored: SampleFormat?, _ source: AVSampleFormat, _ unchanged: Bool) -> AVSampleFormat {
        let isShort = unchanged && av_get_bytes_per_sample(source) <= 2
        switch name {
        case "mp3": return isShort ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_FLTP
        case "opus", "mp2": return isShort ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_FLT
        case "alac": return stored == .s16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P
        case "flac", "tta": return stored == .s16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
        case "wavpack":
            return stored == .f32 ? AV_SAMPLE_FMT_FLTP : stored == .s16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P
        case "speex", "gsm": return AV_SAMPLE_FMT_S16
        case "ima4": return AV_SAMPLE_FMT_S16P
        case "pcm": return stored!.decoded
        default: return AV_SAMPLE_FMT_FLTP
        }
    }
}

extension SampleFormat {
    /// The sample format in memory for this format in a file.
    var decoded: AVSampleFormat {
        switch base {
        case .u8, .s8: AV_SAMPLE_FMT_U8
        case .s16: AV_SAMPLE_FMT_S16
        case .s24, .s32: AV_SAMPLE_FMT_S32
        case .f32: AV_SAMPLE_FMT_FLT
        default: AV_SAMPLE_FMT_DBL
        }
    }
}
