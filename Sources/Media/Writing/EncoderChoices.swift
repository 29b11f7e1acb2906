import CLibav
import MediaTypes

/// What libav's encoders are called and take, beyond the tables that clients see.
extension AudioCodec {
    /// The sample rate nearest to the source's where the codec takes a span of them.
    func nearestRate(_ rate: Int) -> Int {
        let clamped = min(max(rate, lowestSampleRate), highestSampleRate)
        return takes(sampleRate: clamped) ? clamped : (clamped + 9) / 10 * 10
    }

    /// The VBR quality where a job asks for neither quality nor bit rate.
    var defaultQuality: Double? { name == "vorbis" ? 4 : nil }

    /// The bit rate where a job asks for neither quality nor bit rate.
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

    /// The sample format to hand to the encoder; `unchanged` if neither rate nor channels change.
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

    /// The name of libav's encoder.
    func encoderName(_ stored: SampleFormat?, _ order: SampleFormat.ByteOrder) -> String {
        switch name {
        case "mp3": return "libmp3lame"
        // libav's own encoder of layer II takes bit rates that the standard forbids for the number of channels.
        case "mp2": return "libtwolame"
        case "vorbis", "opus", "speex", "gsm": return "lib" + name
        case "ima4": return "adpcm_ima_qt"
        case "wma": return "wmav2"
        case "pcm":
            let format = stored!
            guard format.bits > 8 else { return "pcm_" + format.rawValue }
            return "pcm_" + format.base.rawValue + ((format.byteOrder ?? order) == .little ? "le" : "be")
        default: return name
        }
    }
}

extension SampleFormat {
    /// The format of samples in memory for this one in a file.
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

extension AudioFormat {
    /// The name of libav's muxer.
    var muxerName: String {
        switch name {
        case "m4a", "m4b", "alac": "ipod"
        case "rf64": "wav"
        case "aifc": "aiff"
        case "mka": "matroska"
        case "speex": "spx"
        case "wma": "asf"
        default: name
        }
    }

    /// Whether it is Ogg.
    var isOgg: Bool { ["ogg", "oga", "opus", "spx"].contains(muxerName) }

    /// Whether it is a member of the MPEG-4 family, whose edit list tells where the audio begins and ends.
    var isMovie: Bool { ["m4a", "m4b", "alac", "mp4", "mov"].contains(name) }

    /// Whether a packet of it can tell how many of its last samples are padding.
    var tellsPadding: Bool { ["mka", "webm"].contains(name) }

    /// What the muxer is told.
    func muxerOptions(rate: Int) -> [(String, String)] {
        // The edit list counts in the movie's timescale: with the usual 1000 it would be rounded to milliseconds.
        let movie = [("movflags", "+faststart"), ("movie_timescale", String(rate))]
        return switch name {
        case "m4a", "alac", "mov": movie
        case "m4b": movie + [("brand", "M4B ")]
        // FLAC in MPEG-4 is still experimental to libav.
        case "mp4": movie + [("strict", "experimental")]
        case "wav": [("rf64", "auto")]
        case "rf64": [("rf64", "always")]
        default: []
        }
    }

    /// The tag of PCM in the container where it is not libav's usual one.
    func codecTag(_ stored: SampleFormat?) -> String? {
        guard name == "aifc", let stored, stored.byteOrder != .little else { return nil }
        return switch stored.base {
        case .s16: "twos"
        case .s24: "in24"
        case .s32: "in32"
        default: nil
        }
    }

    /// The most bytes that the container's 32-bit sizes can tell.
    var mostBytes: Int64 {
        switch name {
        case "aiff", "aifc", "au": Int64(UInt32.max) - 64
        default: Int64.max
        }
    }
}

extension EncodingSettings {
    /// The name of libav's muxer, of which bare samples have one for each format.
    var muxerName: String {
        guard format.name == "raw" else { return format.muxerName }
        return codec.encoderName(sampleFormat, format.byteOrder).replacing("pcm_", with: "")
    }
}
