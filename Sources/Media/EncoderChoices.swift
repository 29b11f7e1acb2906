import CLibav
import MediaTypes

/// What libav's encoders are called and take, beyond the tables that clients see.
extension AudioCodec {
    /// The sample rate nearest to the source's where the codec takes a span of them.
    func nearestRate(_ rate: Int) -> Int {
        let clamped = min(max(rate, lowestSampleRate), highestSampleRate)
        return takes(sampleRate: clamped) ? clamped : (clamped + 9) / 10 * 10
    }

    /// Layouts that the encoder names right, by number of channels; nothing if it takes any.
    var layoutNames: [String]? {
        switch name {
        case "mp3": ["mono", "stereo"]
        case "aac": ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "6.1", "7.1"]
        case "alac": ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "6.1(back)", "7.1(wide)"]
        case "vorbis", "opus": ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
        default: nil
        }
    }

    /// The VBR quality where a job asks for neither quality nor bit rate.
    var defaultQuality: Double? { name == "vorbis" ? 4 : nil }

    /// The bit rate where a job asks for neither quality nor bit rate.
    func defaultBitRate(rate: Int, channels: Int) -> Int {
        if name == "opus" { return channels == 1 ? 64_000 : 48_000 * channels }
        let each = rate >= 32_000 ? 64_000 : rate >= 16_000 ? 48_000 : 32_000
        return each * channels
    }

    /// The sample format to hand to the encoder; `unchanged` if neither rate nor channels change.
    func input(_ stored: SampleFormat?, _ source: AVSampleFormat, _ unchanged: Bool) -> AVSampleFormat {
        let isShort = unchanged && av_get_bytes_per_sample(source) <= 2
        switch name {
        case "mp3": return isShort ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_FLTP
        case "opus": return isShort ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_FLT
        case "alac": return stored == .s16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P
        case "flac": return stored == .s16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
        case "pcm": return stored!.decoded
        default: return AV_SAMPLE_FMT_FLTP
        }
    }

    /// The name of libav's encoder.
    func encoderName(_ stored: SampleFormat?, _ order: SampleFormat.ByteOrder) -> String {
        switch name {
        case "mp3", "vorbis", "opus": return name == "mp3" ? "libmp3lame" : "lib" + name
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
        case "m4a", "alac": "ipod"
        default: name
        }
    }

    /// What the muxer is told.
    func muxerOptions(rate: Int) -> [(String, String)] {
        switch name {
        // The edit list counts in the movie's timescale: with the usual 1000 it would be rounded to milliseconds.
        case "m4a", "alac": [("movflags", "+faststart"), ("movie_timescale", String(rate))]
        case "wav": [("rf64", "auto")]
        default: []
        }
    }

    /// The most bytes that the container's 32-bit sizes can tell.
    var mostBytes: Int64 { name == "aiff" ? Int64(UInt32.max) - 64 : Int64.max }
}
