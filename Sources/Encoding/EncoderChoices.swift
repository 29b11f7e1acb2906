import Libav
import MediaTypes

/// What libav's encoders are called and take, beyond the tables that clients see.
extension AudioCodec {
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
    var maxBytes: Int64 {
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
