import Bytes
import Libav

/// Joins packets of Opus where the state of both encoders is the same.
///
/// Each packet has as many bits as the encoder's analysis of the audio so far suggests. After 480 ms, half of all encoders make the same
/// packets as one that has heard everything, and after 1.4 s nearly all. Where they do, the decoder's state is the same, too. Noise
/// at the level of the codec's own may keep packets from ever being equal, although the encoders are alike.
final class ConvergedJoint: PacketJoint {
    /// The packets after the joint that must be equal.
    private let equal: Int
    /// The first packets of an encoder, whose sizes are not compared.
    private let early: Int
    /// The packets whose sizes are compared, if there are as many: audio may be silent where the packets are equal.
    private let compared: Int

    /// The relative difference of the sizes.
    private static let maxDifference = 0.01

    init(packetsPerSecond: Double) {
        func count(_ seconds: Double) -> Int { Int((seconds * packetsPerSecond).rounded(.up)) }
        // One more than 0.1 s: the times of the first and the last are then so far apart that a joint need not be decoded.
        (equal, early, compared) = (count(0.1) + 1, count(0.24), count(1))
    }

    func join(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? {
        let end = running.first + running.packets.count
        guard areEqual(running, next, end - equal..<end) else { return nil }
        return try joined(running, next, at: planned, where: isAccepted)
    }

    func lastJoin(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? {
        try joined(running, next, at: planned, where: isAccepted)
    }

    /// The last joint after which as many packets as have to be equal are known, if the sizes of packets hardly differ.
    private func joined(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? {
        let end = running.first + running.packets.count
        let first = max(next.first + early, end - compared)
        guard end - equal >= max(planned, first), difference(running, next, first..<end) <= Self.maxDifference else {
            return nil
        }
        let joined = Joined(running, next, at: end - equal)
        return try isAccepted(joined) ? joined : nil
    }

    private func areEqual(_ running: PacketRun, _ next: PacketRun, _ numbers: Range<Int>) -> Bool {
        numbers.allSatisfy { number in
            guard let own = running[number], let other = next[number] else { return false }
            return own.hasSameContent(as: other)
        }
    }

    /// How much the sizes of some packets differ, relative to those of the first run; infinite if packets are missing.
    private func difference(_ running: PacketRun, _ next: PacketRun, _ numbers: Range<Int>) -> Double {
        var (own, other) = (0, 0)
        for number in numbers {
            guard let first = running[number], let second = next[number] else { return .infinity }
            own += first.size
            other += second.size
        }
        return abs(Double(other - own)) / Double(max(own, 1))
    }
}
