package import Bytes
import CLibav
package import Libav

/// Encryption that keeps audio from being decoded.
package enum Protection {
    /// Fails for a track whose sample entry or header says that it is encrypted.
    package static func check(_ track: AudioTrack) throws(MediaError) {
        let tag = withUnsafeBytes(of: track.codecTag.littleEndian) { String(decoding: $0, as: UTF8.self) }
        if track.hasEncryption || ["drms", "enca", "aavd"].contains(tag) { throw failure }
    }

    /// Fails for a packet that says so itself.
    package static func check(_ packet: borrowing Packet) throws(MediaError) {
        if packet.isEncrypted { throw failure }
    }

    private static var failure: MediaError {
        MediaError(.protectedContent, "decode the audio", "the audio is encrypted (DRM) and cannot be decoded")
    }
}
