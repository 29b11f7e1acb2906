package import Bytes
import CLibav
package import Libav

extension Demuxer {
    /// An audio track by its stream's place, or the first.
    package borrowing func track(_ index: Int?) throws(MediaError) -> AudioTrack {
        guard let track = tracks.first(where: { $0.index == index ?? $0.index }) else {
            throw MediaError(.noAudio, "open the source", "the source has no such audio track")
        }
        return track
    }

    /// Samples that libav's Opus decoder drops by itself, as the identification header says (RFC 7845 section 5.1).
    package func preskip(_ track: AudioTrack) -> Int64 {
        stream(track.index).pointee.codecpar.pointee.preskip
    }
}

extension AVCodecParameters {
    /// Samples at 48 kHz that an identification header of Opus has a decoder drop; zero if there is none.
    var preskip: Int64 {
        guard codec_id == AV_CODEC_ID_OPUS, extradata_size >= 19 else { return 0 }
        return Int64(extradata[10]) | Int64(extradata[11]) << 8
    }
}
