import Bytes
import Libav

/// Joins packets of Vorbis where both encoders have made the same ones. Blocks have two sizes, and the overlap of two blocks depends
/// on both, so other packets could not follow each other.
final class EqualPacketJoint: PacketJoint {
    /// Equal packets in a row. A single one may be equal by chance, as in silence.
    private static let least = 3
    /// The samples of a frame in libavcodec's encoder. Packets have other lengths.
    private static let frameSize = 64

    func join(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? {
        let times = Dictionary(
            next.packets.enumerated().map { ($1.time, $0) },
            uniquingKeysWith: { first, _ in first })
        for index in running.packets.indices.dropLast(Self.least - 1) {
            guard running.packets[index].time >= Int64(planned * Self.frameSize),
                let other = times[running.packets[index].time],
                other + Self.least <= next.packets.count,
                (0..<Self.least).allSatisfy({
                    running.packets[index + $0].hasSameContent(as: next.packets[other + $0])
                })
            else { continue }
            let joined = Joined(kept: Array(running.packets[..<index]), dropped: other)
            if try isAccepted(joined) { return joined }
        }
        return nil
    }
}
