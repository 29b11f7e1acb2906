import Libav
import MediaTypes

/// The names and options of libav's encoders and muxers, in addition to the public tables.
extension AudioCodec {
    /// The name of libav's encoder.
    func encoderName(_ stored: SampleFormat?, _ order: SampleFormat.ByteOrder) -> String {
        switch name {
        case "mp3": return "libmp3lame"
        // libav's own layer II encoder accepts bit rates that the standard forbids for the number of channels.
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

    /// Whether it is an Ogg format.
    var isOgg: Bool { ["ogg", "oga", "opus", "spx"].contains(muxerName) }

    /// Whether it is an MPEG-4 or QuickTime format, whose edit list defines the start and end of the audio.
    var isMovie: Bool { ["m4a", "m4b", "alac", "mp4", "mov"].contains(name) }

    /// Whether a packet can declare how many of its last samples are padding.
    var tellsPadding: Bool { ["mka", "webm"].contains(name) }

    /// The options of the muxer.
    func muxerOptions(rate: Int) -> [(String, String)] {
        // The edit list uses the movie's timescale. With the default of 1000, it would be rounded to milliseconds.
        let movie = [("movflags", "+faststart"), ("movie_timescale", String(rate))]
        return switch name {
        case "m4a", "alac", "mov": movie
        case "m4b": movie + [("brand", "M4B ")]
        // libav considers FLAC in MPEG-4 experimental.
        case "mp4": movie + [("strict", "experimental")]
        case "wav": [("rf64", "auto")]
        case "rf64": [("rf64", "always")]
        default: []
        }
    }

    /// The codec tag of PCM, if it differs from libav's default.
    func codecTag(_ stored: SampleFormat?) -> String? {
        guard name == "aifc", let stored, stored.byteOrder != .little else { return nil }
        return switch stored.base {
        case .s16: "twos"
        case .s24: "in24"
        case .s32: "in32"
        default: nil
        }
    }

    /// The maximum file size that the container's 32-bit sizes allow.
    var maxBytes: Int64 {
        switch name {
        case "aiff", "aifc", "au": Int64(UInt32.max) - 64
        default: Int64.max
        }
    }
}

extension EncodingSettings {
    /// The name of libav's muxer. Raw samples have one for each format.
    var muxerName: String {
        guard format.name == "raw" else { return format.muxerName }
        return codec.encoderName(sampleFormat, format.byteOrder).replacing("pcm_", with: "")
    }
}
