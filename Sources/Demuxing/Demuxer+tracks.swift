package import Bytes
import CLibav
package import Libav

extension Demuxer {
    /// The audio track of a stream index, or the first one.
    package borrowing func track(_ index: Int?) throws(MediaError) -> AudioTrack {
        guard let track = tracks.first(where: { $0.index == index ?? $0.index }) else {
            throw MediaError(.noAudio, "open the source", "the selected audio track does not exist in the source")
        }
        return track
    }

    /// Samples that libav's Opus decoder drops by itself, from the identification header (RFC 7845 section 5.1).
    package func preskip(_ track: AudioTrack) -> Int64 {
        stream(track.index).pointee.codecpar.pointee.preskip
    }
}

extension AVCodecParameters {
    /// Samples at 48 kHz that the Opus identification header tells a decoder to drop; zero if there is none.
    var preskip: Int64 {
        guard codec_id == AV_CODEC_ID_OPUS, extradata_size >= 19 else { return 0 }
        return Int64(extradata[10]) | Int64(extradata[11]) << 8
    }
}
