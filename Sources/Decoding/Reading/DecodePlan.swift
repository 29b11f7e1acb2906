import Containers
import Demuxing
import Libav

/// Divides the packets of a track into runs.
struct DecodePlan {
    private let dependence: CodecDescriptor.PacketDependence
    /// The packets of a run.
    let length: Int
    private var count = 0
    /// The last packets of the track, as far as they may be in a lead.
    private var recent: [ReadPacket] = []
    /// Those of the run that is not complete.
    private var open: [ReadPacket] = []
    private var reservoir = KnownReservoir()

    /// Frames before a run that another decoder has to decode with all main data: the synthesis of two of MPEG-2 overlaps the run, and
    /// that of the first one is in no sample that is kept.
    private static let overlap = 3

    /// `nil` for a track whose packets one decoder has to decode.
    init?(_ track: AudioTrack, _ depth: SampleDepth) {
        dependence = track.codecID.descriptor.dependence
        switch (dependence, depth) {
        case (.none, .integer): length = 1
        case (.bitReservoir, _): length = 64
        default: return nil
        }
    }

    /// Whether another decoder has to receive packets before a run.
    var hasLeads: Bool { dependence == .bitReservoir }

    /// The maximum number of packets that another decoder receives before a run: with more, it would hardly save time.
    private var maxLead: Int { length / 2 }

    /// Adds the next packet of the track; returns the run that it completes or ends.
    mutating func add(_ packet: ReadPacket) -> DecodeRun? {
        packet.number = count
        count += 1
        guard !hasLeads || reservoir.add(packet.packet.bytes) else {
            // What libav makes of it may depend on more than is known here.
            defer { recent = [] }
            packet.state = .alone
            return take()
        }
        open.append(packet)
        return open.count == length ? take() : nil
    }

    /// Ends the run that is not complete, if there is one.
    mutating func take() -> DecodeRun? {
        guard !open.isEmpty else { return nil }
        defer {
            recent = (recent + open).suffix(maxLead)
            open = []
        }
        guard let lead = lead(behind: recent) else {
            for packet in open { packet.state = .alone }
            return nil
        }
        return DecodeRun(lead: lead, packets: open)
    }

    /// What a decoder has to receive behind those packets of the track; `nil` if some of it is before them.
    func lead(behind packets: [ReadPacket]) -> [ReadPacket]? {
        guard hasLeads else { return [] }
        var bytes = 0
        for (index, read) in packets.reversed().enumerated() where index >= Self.overlap {
            guard let frame = LayerThreeFrame(read.packet.bytes) else { return nil }
            bytes += frame.slotBytes
            if bytes >= frame.maxBegin { return packets.suffix(index + 1) }
        }
        return nil
    }
}

/// Follows the bit reservoir of MPEG layer III, to find frames whose main data was lost or is used twice.
private struct KnownReservoir {
    /// The bytes of main data since the last packet that was not a frame.
    private var known = 0
    /// Those of them to which the next frame may refer back.
    private var available = 0

    /// Adds the next packet; returns whether it is a frame all of whose main data is there. Of another one, libav drops a granule, and
    /// may decode the next granule with scale factors of an earlier frame.
    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // libav also decodes what layer III does not depend on: frames of other layers, and frames behind or before other bytes.
        guard let frame = LayerThreeFrame(bytes) else {
            self = KnownReservoir()
            return false
        }
        defer {
            known = min(known + frame.slotBytes, 2 * frame.maxBegin)
            available = min(known, frame.reservoir)
        }
        return frame.begin <= available && frame.reservoir >= 0
    }
}
