import Bytes
import Demuxing
import Libav

/// Joins packets of AAC (ISO 14496-3 section 4.4.2.1) after two packets that use the same window, because windows overlap.
///
/// The rate control of the encoders never agrees, so their packets differ in bits, but not in time.
final class WindowJoint: PacketJoint {
    func join(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? {
        var number = planned
        while let before = running[number - 1], let own = next[number - 1], next[number] != nil {
            if let window = Self.window(of: before.packet), window == Self.window(of: own.packet) {
                let joined = Joined(running, next, at: number)
                if try isAccepted(joined) { return joined }
            }
            number += 1
        }
        return nil
    }

    /// The sequence and the shape of the window of a single channel or a pair with a common window; `nil` for others.
    private static func window(of packet: borrowing Packet) -> Int? {
        guard packet.bytes.count >= 4 else { return nil }
        var bits = SideBits(bytes: packet.bytes, position: 0)
        let element = bits.take(3)
        bits.position += 4
        switch element {
        // The gain, and a reserved bit.
        case 0: bits.position += 8 + 1
        case 1:
            guard bits.take(1) == 1 else { return nil }
            bits.position += 1
        default: return nil
        }
        return element << 3 | bits.take(3)
    }
}
