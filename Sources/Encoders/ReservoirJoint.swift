import Bytes
import CLibav
import Demuxing
import Libav

/// Joins frames of MP3, whose main data may begin in earlier frames.
///
/// A frame of the second encoder begins as many bytes before its slot as that encoder had left over. If the first encoder has left
/// over at least as many, these bytes move there, and no header changes. The frame before must end with the same kind of block,
/// because blocks overlap. What the first encoder has left over beyond them is lost to what follows, so the place where that is
/// least is the first choice.
final class ReservoirJoint: PacketJoint {
    /// Whether all frames must have the same bit rate.
    private let isConstant: Bool
    /// The frames after the planned one of which the best is the first choice. The reservoir of a new encoder takes about as many to fill.
    private static let lastChosen = 16
    /// The frames after the planned one before which a frame may become larger, if the bit rate is variable and there is no other joint.
    private static let lastRaised = 4

    init(isConstant: Bool) { self.isConstant = isConstant }

    func join(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
    ) throws(MediaError) -> Joined? {
        let places = places(running, next, from: planned)
        let near = places.prefix { $0.number <= planned + Self.lastChosen }
        let ordered = near.sorted { ($0.lostBytes, $0.number) < ($1.lostBytes, $1.number) }
        for place in ordered + places.dropFirst(near.count) {
            let joined = try self.joined(running, next, at: place.number, bytes: place.bytes, left: place.left)
            if try isAccepted(joined) { return joined }
        }
        guard !isConstant else { return nil }
        for number in planned...planned + Self.lastRaised {
            guard let (before, own, first) = frames(running, next, at: number), before.lastBlocks == own.lastBlocks,
                first.begin > before.reservoir, let raised = before.raised(by: first.begin - before.reservoir)
            else { continue }
            let joined = try self.joined(
                running, next, at: number, bytes: first.begin, left: before.reservoir + raised.growth, raised: raised)
            if try isAccepted(joined) { return joined }
        }
        return nil
    }

    /// A place where the second encoder's frame begins with so many bytes of main data, and the first one has left over as many or
    /// more.
    private struct Place {
        let number: Int
        let bytes: Int
        let left: Int
        var lostBytes: Int { left - bytes }
    }

    private func places(_ running: PacketRun, _ next: PacketRun, from planned: Int) -> [Place] {
        var places: [Place] = []
        var number = planned
        while let (before, own, first) = frames(running, next, at: number) {
            if before.lastBlocks == own.lastBlocks, first.begin <= before.reservoir {
                places.append(Place(number: number, bytes: first.begin, left: before.reservoir))
            }
            number += 1
        }
        return places
    }

    /// The frames around a joint: the last one of the running encoder, the next encoder's one of the same time, and the one after.
    private func frames(
        _ running: PacketRun, _ next: PacketRun, at number: Int
    ) -> (LayerThreeFrame, LayerThreeFrame, LayerThreeFrame)? {
        guard let before = running[number - 1].flatMap({ LayerThreeFrame(withoutChecksum: $0.packet.bytes) }),
            let own = next[number - 1].flatMap({ LayerThreeFrame(withoutChecksum: $0.packet.bytes) }),
            let first = next[number].flatMap({ LayerThreeFrame(withoutChecksum: $0.packet.bytes) })
        else { return nil }
        return (before, own, first)
    }

    /// Copies the bytes of main data that the frame with a number begins with to the end of what is left over before it, and clears
    /// the rest of that. The frame before gets a higher bit rate if one is given.
    private func joined(
        _ running: PacketRun, _ next: PacketRun, at number: Int, bytes: Int, left: Int,
        raised: (byte: UInt8, growth: Int)? = nil
    ) throws(MediaError) -> Joined {
        var joined = Joined(running, next, at: number)
        var rest = [UInt8](repeating: 0, count: left - bytes) + (try lastMainData(next, before: number, bytes))
        var index = joined.kept.count - 1
        if let raised {
            joined.kept[index] = try EncodedPacket(copying: joined.kept[index])
            try joined.kept[index].grow(by: raised.growth)
            let header = try joined.kept[index].writable
            header[2] = raised.byte
        }
        while !rest.isEmpty, index >= 0, let frame = LayerThreeFrame(withoutChecksum: joined.kept[index].packet.bytes) {
            let packet = try EncodedPacket(copying: joined.kept[index])
            let count = min(rest.count, frame.slotBytes)
            let data = try packet.writable
            for (offset, byte) in rest.suffix(count).enumerated() { data[data.count - count + offset] = byte }
            rest.removeLast(count)
            joined.kept[index] = packet
            index -= 1
        }
        guard rest.isEmpty else { throw Self.isMissing }
        return joined
    }

    /// The last bytes of the slots before a frame.
    private func lastMainData(_ run: PacketRun, before number: Int, _ count: Int) throws(MediaError) -> [UInt8] {
        var data: [UInt8] = []
        var number = number - 1
        while data.count < count, let packet = run[number],
            let frame = LayerThreeFrame(withoutChecksum: packet.packet.bytes)
        {
            data = packet.packet.bytes.suffix(min(frame.slotBytes, count - data.count)) + data
            number -= 1
        }
        guard data.count == count else {
            throw Self.isMissing
        }
        return data
    }

    private static var isMissing: MediaError {
        MediaError(.internal, "join packets", "the bit reservoir is not in the frames")
    }
}

extension LayerThreeFrame {
    /// Reads a frame that may be changed; `nil` if it is none, or one with a checksum.
    fileprivate init?(withoutChecksum bytes: UnsafeBufferPointer<UInt8>) {
        self.init(bytes)
        guard !hasChecksum else { return nil }
    }

    /// The lowest bit rate at which the frame is larger by at least that many bytes: its header's third byte, and the growth.
    fileprivate func raised(by bytes: Int) -> (byte: UInt8, growth: Int)? {
        for rate in (header[2] >> 4) + 1..<15 {
            var raised = header
            raised[2] = rate << 4 | header[2] & 15
            let length = raised.withUnsafeBufferPointer { FrameHeader.length(AV_CODEC_ID_MP3, $0) }
            if let growth = length.map({ $0 - headBytes - slotBytes }), growth >= bytes { return (raised[2], growth) }
        }
        return nil
    }
}
