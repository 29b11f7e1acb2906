import Bytes
import CLibav
import Libav

/// Consecutive packets of a track, which one decoder decodes.
struct DecodeRun: Sendable {
    /// The packets before, which bring another decoder to the state of the one that has decoded them all.
    let lead: [ReadPacket]
    let packets: [ReadPacket]
}

/// A packet that was read ahead, and its samples.
final class ReadPacket: @unchecked Sendable {
    let packet: Packet
    let frame: Frame
    /// Counts the packets of the track that were read ahead.
    var number = 0
    /// Where libav reads next.
    var position: Int64 = 0
    var failure: MediaError?
    var isEnd = false
    /// Changed under a lock. As long as it is `waiting`, the frame is used by the thread that decodes the run.
    var state = State.waiting

    enum State {
        case waiting, decoded, refused
        /// The packet is in no run.
        case alone
    }

    init() throws(MediaError) {
        packet = try Packet()
        frame = try Frame()
    }

    /// Whether another reference to the packet still has the data with which it was read.
    func isUnchanged(_ reference: borrowing Packet) -> Bool {
        let (read, now) = (packet.pointer.pointee, reference.pointer.pointee)
        return read.data == now.data && read.size == now.size && read.pts == now.pts && read.dts == now.dts
            && packet.hasNoSideData && reference.hasNoSideData
    }
}
