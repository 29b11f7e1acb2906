import Containers
import Libav

/// How much has to be decoded and thrown away before the samples are, bit for bit, those of a whole decode.
///
/// Found by measuring, and doubled at least: synthesis filters and bit reservoirs settle within a few frames, the recursive
/// filters of speech codecs only when their difference is rounded away. AAC settles but for the noise that its decoder
/// makes up where the encoder left bands out.
enum PreRoll {
    /// Seconds; nothing for codecs that are decoded from the start, because they never settle or because nobody measured.
    static func seconds(_ track: AudioTrack) -> Int? {
        switch track.codecID.descriptor.settling {
        case .never: nil
        case .frames: 4
        case .rounding: 30
        }
    }

    /// Packets at least, for codecs whose packets are long.
    static let packets = 12
}
