import Bytes
import Libav
import MediaTypes

/// Joins the packets of consecutive segments by the rule of a codec.
protocol PacketJoint: AnyObject {
    /// Takes each frame of the stream in order.
    func add(_ frame: borrowing Frame) throws(MediaError)

    /// Whether it computes the sum of all samples, so that encoders need not.
    static var sumsSamples: Bool { get }

    /// Adapts a packet to its number in the stream, on the thread of its segment.
    static var renumber: (@Sendable (EncodedPacket, _ number: Int) throws(MediaError) -> Void)? { get }

    /// Joins two runs at the best possible place that is accepted, at the packet with the planned number or after it; `nil` if there
    /// is none. The packets of the runs are not changed.
    func join(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined?

    /// Joins two runs at the end of the tail if ``join(_:_:at:where:)`` has found no place; `nil` if there is none.
    func lastJoin(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined?

    /// Takes each packet of the stream in order, before it is written.
    func finish(_ packet: borrowing Packet) throws(MediaError)
}

/// Whether a joint is taken.
typealias Acceptance = (Joined) throws(MediaError) -> Bool

/// A joint of two runs.
struct Joined {
    /// The packets of the first run that are kept, adapted to what follows.
    var kept: [EncodedPacket]
    /// The number of packets of the second run that are dropped.
    let dropped: Int

    /// A joint before the packet with that number.
    init(_ running: PacketRun, _ next: PacketRun, at number: Int) {
        kept = Array(running.packets[..<(number - running.first)])
        dropped = number - next.first
    }

    init(kept: [EncodedPacket], dropped: Int) { (self.kept, self.dropped) = (kept, dropped) }
}

extension PacketJoint {
    func add(_ frame: borrowing Frame) throws(MediaError) {}
    static var sumsSamples: Bool { false }
    static var renumber: (@Sendable (EncodedPacket, Int) throws(MediaError) -> Void)? { nil }
    func lastJoin(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? { nil }
    func finish(_ packet: borrowing Packet) throws(MediaError) {}
}

/// Joins packets where it was planned. The frames of ALAC and TTA are independent of each other. The encoders of AC-3, E-AC-3, MP2
/// and WMA make equal packets after one frame. Those of Speex converge: after 50 frames the difference is below the codec's noise.
final class PlannedJoint: PacketJoint {
    func join(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? {
        var number = planned
        while number == running.first || running[number - 1] != nil, next[number] != nil {
            let joined = Joined(running, next, at: number)
            if try isAccepted(joined) { return joined }
            number += 1
        }
        return nil
    }
}

extension EncodingSettings {
    /// The joint of the codec's packets.
    func joint(_ rule: EncoderJoint.Rule, frameSize: Int) throws(MediaError) -> any PacketJoint {
        switch rule {
        case .planned: PlannedJoint()
        case .frameNumbers: try FlacJoint(self)
        case .bitReservoir: ReservoirJoint(isConstant: bitRateMode == .cbr)
        case .windows: WindowJoint()
        case .equalPackets: EqualPacketJoint()
        case .convergedPackets: ConvergedJoint(packetsPerSecond: Double(shape.rate) / Double(frameSize))
        }
    }
}
