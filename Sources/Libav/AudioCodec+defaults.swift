import CLibav
import MediaTypes

/// The default settings of a codec.
extension AudioCodec {
    /// The supported sample rate nearest to the source's, for a codec that accepts a range of rates.
    func nearestRate(_ rate: Int) -> Int {
        let clamped = min(max(rate, lowestSampleRate), highestSampleRate)
        return takes(sampleRate: clamped) ? clamped : (clamped + 9) / 10 * 10
    }

    /// The default bit rate if the job sets neither quality nor bit rate.
    func defaultBitRate(rate: Int, channels: Int) -> Int {
        switch bitRateRule {
        case .opusFrame: return channels == 1 ? 64_000 : 48_000 * channels
        case .dolby, .dolbyPlusFrame:
            return [96_000, 192_000, 256_000, 320_000, 384_000, 448_000][min(channels, 6) - 1]
        case .layerTwo: return (rate >= 32_000 ? 96_000 : 64_000) * channels
        case .speexModes: return rate == 8000 ? 15_000 : 28_000
        case .none, .unbounded, .layerThree, .vorbisModes, .bitReservoir: break
        }
        let each = rate >= 32_000 ? 64_000 : rate >= 16_000 ? 48_000 : 32_000
        return each * channels
    }

    /// The sample format of the encoder's input. `unchanged` means that neither the rate nor the channels change.
    func input(_ stored: SampleFormat?, _ source: AVSampleFormat, _ unchanged: Bool) -> AVSampleFormat {
        let isShort = unchanged && av_get_bytes_per_sample(source) <= 2
        return switch input {
        case .float: AV_SAMPLE_FMT_FLTP
        case .short: AV_SAMPLE_FMT_S16
        case .planarShort: AV_SAMPLE_FMT_S16P
        case .shortOrFloat: isShort ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_FLT
        case .planarShortOrFloat: isShort ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_FLTP
        case .shortOrLong: stored == .s16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
        case .planarShortOrLong: stored == .s16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P
        case .planarStored:
            stored == .f32 ? AV_SAMPLE_FMT_FLTP : stored == .s16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P
        case .stored: stored!.decoded
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
