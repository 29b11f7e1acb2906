import Containers
import Libav

/// How much must be decoded and discarded before the samples are bit-identical to those of a whole decode.
///
/// The values were measured and at least doubled. Synthesis filters and bit reservoirs settle within a few frames. The
/// recursive filters of speech codecs settle only when the difference is rounded away. AAC settles except for the noise that
/// its decoder generates for omitted bands.
enum PreRoll {
    /// Seconds; `nil` for codecs that are decoded from the start, because they never settle or were not measured.
    static func seconds(_ track: AudioTrack) -> Int? {
        guard !track.isExtendedAAC else { return nil }
        return switch track.codecID.descriptor.convergence {
        case .never: nil
        case .frames: 4
        case .rounding: 30
        }
    }

    /// The minimum number of packets, for codecs with long packets.
    static let packets = 12
}
