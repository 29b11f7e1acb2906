package import Bytes
import CLibav
package import Demuxing
package import Libav

/// Detects encryption and compression by the container that prevent decoding.
package enum Protection {
    /// Throws if a track's sample entry or header declares encryption, or a compression that is not supported.
    package static func check(_ demuxer: borrowing Demuxer, _ track: AudioTrack) throws(MediaError) {
        let tag = withUnsafeBytes(of: track.codecTag.littleEndian) { String(decoding: $0, as: UTF8.self) }
        if track.hasEncryption || ["drms", "enca", "aavd"].contains(tag) { throw failure }
        if try demuxer.declaresEncryption(track) { throw failure }
        if try demuxer.hasEncryptedContent(track) { throw failure }
    }

    /// Throws if a packet is marked as encrypted.
    package static func check(_ packet: borrowing Packet) throws(MediaError) {
        if packet.isEncrypted { throw failure }
    }

    private static var failure: MediaError {
        MediaError(.protectedContent, "decode the audio", "the audio is encrypted (DRM) and cannot be decoded")
    }
}
