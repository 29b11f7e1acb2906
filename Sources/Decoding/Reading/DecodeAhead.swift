import Bytes
import CLibav
import Demuxing
import Libav
import Lifecycle

/// Reads packets before they are needed, and decodes runs of them on other threads.
///
/// Only for codecs with which the samples do not depend on which decoder gets a run, if it has first received what the plan says.
/// The first packet that is not decoded to a single frame of the usual shape ends this: the caller's decoder then decodes it and
/// all that follow, as if it had decoded everything before.
final class DecodeAhead {
    /// Where libav read next after the packet that `next` returned last.
    private(set) var position: Int64
    private let shared = Monitor(Shared())
    private let decoder: RunDecoder
    private let track: Int
    private let shape: FrameShape
    private let capacity: Int
    private var plan: PacketRunPlan
    private var isReading = true
    private var isDecoding = true
    private var current: ReadPacket?
    /// The last packets whose samples were taken, which the caller's decoder has not received.
    private var taken: [ReadPacket] = []
    private let rest: Frame

    private struct Shared {
        /// Packets that were read and not yet returned, in order.
        var packets: [ReadPacket] = []
        /// Runs that no thread decodes yet, in order.
        var runs: [PacketRun] = []
        var hasEnded = false
    }

    /// The decoders' time for a packet is short, so more threads than this would wait for the demuxer.
    private static let maxThreads = 4
    private static let maxPackets = 64
    private static let maxRuns = 8
    private static let maxBytes = 8 << 20

    /// Starts `threads` threads. `frame` is the last decoded frame, to which all others must be similar.
    init(
        _ demuxer: borrowing Demuxer, _ track: AudioTrack, _ plan: PacketRunPlan, similarTo frame: borrowing Frame,
        threads: Int
    ) throws(MediaError) {
        position = demuxer.bytePosition
        self.track = track.index
        self.plan = plan
        shape = FrameShape(frame)
        let most = min(max(Self.maxPackets, Self.maxRuns * plan.length), Self.maxBytes / max(frame.bytes, 1))
        capacity = max(4, most)
        rest = try Frame()
        decoder = try RunDecoder(demuxer, track)
        for _ in 0..<min(threads, Self.maxThreads) {
            let decoder = try RunDecoder(demuxer, track)
            // Without further threads, the caller decodes everything.
            _ = tryStartThread { [shared, shape] in
                while let run = shared.wait(for: { shared -> PacketRun?? in
                    shared.hasEnded ? .some(nil) : shared.runs.isEmpty ? nil : .some(shared.runs.removeFirst())
                }) {
                    decoder.decode(run, shape) { packet, state in shared.change { _ in packet.state = state } }
                }
            }
        }
    }

    deinit { shared.change { $0.hasEnded = true } }

    /// Returns the next packet, like `Demuxer.next`.
    func next(_ demuxer: borrowing Demuxer, into packet: borrowing Packet) throws(MediaError) -> Bool {
        current = nil
        try readAhead(demuxer)
        let first = shared.change(wakes: false) { $0.packets.isEmpty ? nil : $0.packets.removeFirst() }
        guard let first else {
            defer { position = demuxer.bytePosition }
            return try demuxer.next(into: packet)
        }
        position = first.position
        if let failure = first.failure {
            // The demuxer may continue behind the invalid bytes.
            isReading = isDecoding
            throw failure
        }
        guard !first.isEnd else { return false }
        try check(av_packet_ref(packet.pointer, first.packet.pointer), "read the source")
        current = first
        return true
    }

    private func readAhead(_ demuxer: borrowing Demuxer) throws(MediaError) {
        guard isReading, shared.read({ $0.packets.count }) <= capacity / 2 else { return }
        var read: [ReadPacket] = []
        var runs: [PacketRun] = []
        while isReading, read.count < capacity / 2 {
            let packet = try ReadPacket()
            do { packet.isEnd = try !demuxer.next(into: packet.packet) } catch { packet.failure = error }
            packet.position = demuxer.bytePosition
            isReading = !packet.isEnd && packet.failure == nil
            read.append(packet)
            if isReading, packet.packet.streamIndex == track {
                if let run = plan.add(packet) { runs.append(run) }
            } else {
                packet.state = .alone
            }
        }
        if let run = plan.take() { runs.append(run) }
        shared.change {
            $0.packets += read
            $0.runs += runs
        }
    }

    /// Moves the samples of the packet that `next` returned last into the frame; returns `false` if the caller has to decode the
    /// packet, with a decoder that is as if it had decoded everything before.
    func take(_ packet: borrowing Packet, into frame: borrowing Frame, _ other: borrowing Decoder) throws(MediaError)
        -> Bool
    {
        guard isDecoding, let read = current.take() else { return false }
        // A packet may have been changed or left out.
        guard read.isUnchanged(packet), taken.last.map({ $0.number + 1 == read.number }) ?? true else {
            stop()
            try bringUp(other)
            return false
        }
        while true {
            let (state, run) = shared.change(wakes: false) { shared -> (ReadPacket.State, PacketRun?) in
                (read.state, read.state == .waiting && !shared.runs.isEmpty ? shared.runs.removeFirst() : nil)
            }
            switch state {
            case .alone:
                try bringUp(other)
                return false
            case .refused:
                stop()
                try bringUp(other)
                return false
            case .decoded:
                frame.take(read.frame)
                taken.append(read)
                if taken.count > 2 * plan.maxLead { taken.removeFirst(plan.maxLead) }
                return true
            case .waiting:
                if let run {
                    decoder.decode(run, shape) { packet, state in shared.change { _ in packet.state = state } }
                } else {
                    _ = shared.wait { _ in read.state == .waiting ? nil : true }
                }
            }
        }
    }

    /// Brings the caller's decoder to the state in which it has decoded everything.
    private func bringUp(_ other: borrowing Decoder) throws(MediaError) {
        if let lead = plan.lead(behind: taken) {
            try other.restart(behind: lead, rest)
        } else {
            try other.skip(taken, rest)
        }
        taken = []
    }

    /// Ends the look-ahead if a frame that the caller has decoded is not similar to the others.
    func observe(_ frame: borrowing Frame) {
        if FrameShape(frame) != shape { stop() }
    }

    /// Ends the look-ahead. `next` still returns the packets that were read.
    func stop() {
        (isReading, isDecoding) = (false, false)
        shared.change { $0.hasEnded = true }
    }
}

/// The properties that all frames of a stream have in common.
private struct FrameShape: Hashable {
    let format: CInt
    let rate: Int
    let channels: Int

    init(_ frame: borrowing Frame) {
        format = frame.pointer.pointee.format
        rate = frame.rate
        channels = frame.channels
    }
}

/// The decoder of one thread.
private final class RunDecoder: @unchecked Sendable {
    private let decoder: Decoder
    private let rest: Frame
    /// The number of the packet behind those that it has decoded.
    private var next: Int?

    init(_ demuxer: borrowing Demuxer, _ track: AudioTrack) throws(MediaError) {
        decoder = try Decoder.open(demuxer.stream(track.index))
        rest = try Frame()
    }

    /// Decodes a run, and tells the state of each packet: whether it holds a single frame of the shape.
    func decode(_ run: PacketRun, _ shape: FrameShape, tell: (ReadPacket, ReadPacket.State) -> Void) {
        var isDecoded = true
        if run.packets[0].number != next { isDecoded = (try? decoder.restart(behind: run.lead, rest)) != nil }
        for packet in run.packets {
            isDecoded = isDecoded && decode(packet, shape)
            tell(packet, isDecoded ? .decoded : .refused)
        }
        next = isDecoded ? run.packets.last!.number + 1 : nil
    }

    private func decode(_ read: ReadPacket, _ shape: FrameShape) -> Bool {
        guard decoder.send(read.packet) == nil,
            case .samples? = try? decoder.receive(into: read.frame), FrameShape(read.frame) == shape,
            case .needsPacket? = try? decoder.receive(into: rest)
        else { return false }
        return true
    }
}

extension Decoder {
    /// Brings the decoder to its state behind some packets, if it only depends on them. Their samples are dropped.
    fileprivate borrowing func restart(behind packets: [ReadPacket], _ dropped: borrowing Frame) throws(MediaError) {
        guard !packets.isEmpty else { return }
        flush()
        try skip(packets, dropped)
    }

    /// Decodes the next packets, and drops their samples.
    fileprivate borrowing func skip(_ packets: [ReadPacket], _ dropped: borrowing Frame) throws(MediaError) {
        for read in packets where send(read.packet) == nil {
            while case .samples = try receive(into: dropped) {}
        }
    }
}
