import Bytes
import CLibav
import Containers
import Libav

/// Consecutive packets of a track, which one decoder decodes.
final class PacketRun: @unchecked Sendable {
    /// The packets before, which bring another decoder to the state of the one that has decoded them all.
    let lead: [ReadPacket]
    let packets: [ReadPacket]

    init(_ packets: [ReadPacket], behind lead: [ReadPacket]) { (self.packets, self.lead) = (packets, lead) }
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
    func isUnchanged(_ other: borrowing Packet) -> Bool {
        let (read, now) = (packet.pointer.pointee, other.pointer.pointee)
        return read.data == now.data && read.size == now.size && read.pts == now.pts && read.dts == now.dts
            && read.side_data_elems == 0 && now.side_data_elems == 0
    }
}

/// Divides the packets of a track into runs.
struct PacketRunPlan {
    private let dependence: CodecDescriptor.PacketDependence
    /// The packets of a run.
    let length: Int
    private var count = 0
    /// The last packets of the track.
    private var recent: [ReadPacket] = []
    /// Those of the run that is not complete.
    private var open: [ReadPacket] = []

    /// The packets that are kept to find those that a decoder has to receive before a run.
    let maxLead: Int
    /// Frames before a run that another decoder has to decode with all main data: their synthesis overlaps the run. Two are enough.
    private static let overlap = 3

    /// `nil` for a track whose packets one decoder has to decode.
    init?(_ track: AudioTrack, _ depth: SampleDepth) {
        dependence = track.codecID.descriptor.dependence
        switch (dependence, depth) {
        case (.none, .integer): (length, maxLead) = (1, 1)
        case (.bitReservoir, _): (length, maxLead) = (64, 256)
        default: return nil
        }
    }

    /// Adds the next packet of the track; returns the run that it completes.
    mutating func add(_ packet: ReadPacket) -> PacketRun? {
        packet.number = count
        count += 1
        open.append(packet)
        return open.count == length ? take() : nil
    }

    /// Ends the run that is not complete, if there is one.
    mutating func take() -> PacketRun? {
        guard !open.isEmpty else { return nil }
        defer {
            recent = (recent + open).suffix(maxLead)
            open = []
        }
        guard let lead = lead(behind: recent) else {
            for packet in open { packet.state = .alone }
            return nil
        }
        return PacketRun(open, behind: lead)
    }

    /// What a decoder has to receive behind those packets of the track; `nil` if some of it is before them.
    func lead(behind packets: [ReadPacket]) -> [ReadPacket]? {
        guard dependence == .bitReservoir else { return [] }
        var bytes = 0
        for (index, read) in packets.reversed().enumerated() where index >= Self.overlap {
            bytes += BitReservoir.mainBytes(read.packet.bytes)
            if bytes >= BitReservoir.maxBytes { return packets.suffix(index + 1) }
        }
        return nil
    }
}
