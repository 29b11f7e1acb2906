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
    private let shared = Monitor(SharedRuns())
    private let decoder: RunDecoder
    private let track: AudioTrack
    private let threads: ThreadBudget
    private let shape: FrameShape
    private let capacity: Int
    private var plan: DecodePlan
    private var isReading = true
    private var isDecoding = true
    private var current: ReadPacket?
    /// The threads that were started, each with a decoder, and whether there may be more.
    private var (started, mayStart) = (0, true)
    /// The bytes of the packets that were read and not yet returned.
    private var bytes = 0
    /// The number of the last packet that was to be decoded.
    private var last: Int?
    /// The last packets whose samples were taken, which the caller's decoder has not received.
    private var taken: [ReadPacket] = []
    /// How many packets were decoded ahead.
    private(set) var count = 0
    private let dropped: Frame

    /// The decoders' time for a packet is short, so more threads than this would wait for the demuxer.
    private static let maxThreads = 4
    private static let maxPackets = 64
    private static let maxRuns = 6
    /// Of samples, and of packets.
    private static let maxBytes = 8 << 20
    /// A decoder that stopped gets so many of the last packets if it is not known which of them it needs.
    private static let maxTaken = 256

    /// `frame` is the last decoded frame, to which all others must be similar.
    init(
        _ demuxer: borrowing Demuxer, _ track: AudioTrack, _ plan: DecodePlan, similarTo frame: borrowing Frame,
        threads: ThreadBudget
    ) throws(MediaError) {
        position = demuxer.bytePosition
        self.track = track
        self.threads = threads
        self.plan = plan
        shape = FrameShape(frame)
        let most = min(max(Self.maxPackets, Self.maxRuns * plan.length), Self.maxBytes / max(frame.bytes, 1))
        capacity = max(4, most)
        dropped = try Frame()
        decoder = try RunDecoder(demuxer, track)
    }

    deinit { stop() }

    /// Returns the next packet, like `Demuxer.next`.
    func next(_ demuxer: borrowing Demuxer, into packet: borrowing Packet) throws(MediaError) -> Bool {
        current = nil
        try readAhead(demuxer)
        permit(demuxer)
        let first = shared.change(wakes: false) { $0.packets.isEmpty ? nil : $0.packets.removeFirst() }
        guard let first else {
            defer { position = demuxer.bytePosition }
            return try demuxer.next(into: packet)
        }
        position = first.position
        bytes -= first.packet.bytes.count
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
        guard isReading, bytes <= Self.maxBytes / 2, shared.read({ $0.packets.count }) <= capacity / 2 else { return }
        var read: [ReadPacket] = []
        var runs: [DecodeRun] = []
        var ofTrack = 0
        // The packets of other tracks may be between them.
        while isReading, ofTrack < capacity / 2, read.count < 2 * capacity, bytes < Self.maxBytes {
            let packet = try ReadPacket()
            do { packet.isEnd = try !demuxer.next(into: packet.packet) } catch { packet.failure = error }
            packet.position = demuxer.bytePosition
            bytes += packet.packet.bytes.count
            isReading = !packet.isEnd && packet.failure == nil
            read.append(packet)
            guard isReading, packet.packet.streamIndex == track.index else {
                packet.state = .alone
                continue
            }
            ofTrack += 1
            if let run = plan.add(packet) { runs.append(run) }
        }
        if let run = plan.take() { runs.append(run) }
        shared.change {
            $0.packets += read
            $0.runs += runs
        }
        // Short runs take more time than they save.
        if isReading, ofTrack < plan.length / 2 { stop() }
    }

    /// Permits another thread to decode, if there are runs and a thread that encoders do not need.
    private func permit(_ demuxer: borrowing Demuxer) {
        let (hasRuns, permitted) = shared.read { (!$0.runs.isEmpty, $0.permitted) }
        // The caller's thread works, too, and is not counted.
        guard hasRuns, permitted < (mayStart ? Self.maxThreads : started), threads.acquire(leaving: 1) else { return }
        if permitted == started {
            // Without another thread, the caller decodes what the others do not.
            guard let decoder = try? RunDecoder(demuxer, track),
                tryStartThread({ [shared, shape, threads] in decoder.run(shape, shared, threads) })
            else {
                mayStart = false
                return threads.release()
            }
            started += 1
        }
        shared.change {
            $0.permitted += 1
            $0.permits += 1
        }
    }

    /// Moves the samples of the packet that `next` returned last into the frame; returns `false` if the caller has to decode the
    /// packet, with its decoder, which then is as if it had decoded everything before.
    func take(_ packet: borrowing Packet, into frame: borrowing Frame, orPrepare callersDecoder: borrowing Decoder)
        throws(MediaError) -> Bool
    {
        guard isDecoding, let read = current.take() else {
            try prepare(callersDecoder)
            return false
        }
        defer { last = read.number }
        // A packet may have been changed or left out.
        if !read.isUnchanged(packet) || last.map({ $0 + 1 != read.number }) ?? false { stop() }
        guard isDecoding, isDecoded(read) else {
            try prepare(callersDecoder)
            return false
        }
        frame.take(read.frame)
        count += 1
        if plan.hasLeads {
            taken.append(read)
            if taken.count == 2 * Self.maxTaken { taken.removeFirst(Self.maxTaken) }
        }
        return true
    }

    /// Waits for the samples of a packet, and decodes other runs meanwhile; returns `false` if there are none.
    private func isDecoded(_ read: ReadPacket) -> Bool {
        while true {
            let (state, run) = shared.change(wakes: false) { shared -> (ReadPacket.State, DecodeRun?) in
                (read.state, read.state == .waiting && !shared.runs.isEmpty ? shared.runs.removeFirst() : nil)
            }
            switch state {
            case .decoded: return true
            case .alone: return false
            case .refused:
                stop()
                return false
            case .waiting:
                if let run {
                    decoder.decode(run, shape, shared)
                } else {
                    _ = shared.wait { _ in read.state == .waiting ? nil : true }
                }
            }
        }
    }

    /// Brings the caller's decoder to the state in which it has decoded everything. It keeps what it has of a channel that was not
    /// in the packets.
    private func prepare(_ callersDecoder: borrowing Decoder) throws(MediaError) {
        try callersDecoder.skip(plan.lead(behind: taken) ?? taken, dropped)
        taken = []
    }

    /// Ends the look-ahead if a frame that the caller has decoded is not similar to the others.
    func observe(_ frame: borrowing Frame) {
        if FrameShape(frame) != shape { stop() }
    }

    /// Ends the look-ahead. `next` still returns the packets that were read.
    func stop() {
        (isReading, isDecoding) = (false, false)
        let permits = shared.change { shared in
            defer { (shared.hasEnded, shared.runs, shared.permits) = (true, [], 0) }
            return shared.permits
        }
        for _ in 0..<permits { threads.release() }
    }
}

/// What the threads share.
struct SharedRuns {
    /// Packets that were read and not yet returned, in order.
    var packets: [ReadPacket] = []
    /// Runs that no thread decodes yet, in order.
    var runs: [DecodeRun] = []
    /// How many threads may decode, and how many of them have not begun yet.
    var (permitted, permits) = (0, 0)
    var hasEnded = false

    /// The next run for a thread that may decode, whose permit ends if there is none or encoders need the thread.
    mutating func takeRun(_ threads: ThreadBudget) -> DecodeRun? {
        if runs.isEmpty || threads.isFull {
            permitted -= 1
            return nil
        }
        return runs.removeFirst()
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
    private let dropped: Frame
    /// The number of the packet behind those that it has decoded.
    private var next: Int?

    init(_ demuxer: borrowing Demuxer, _ track: AudioTrack) throws(MediaError) {
        decoder = try Decoder.open(demuxer, track)
        dropped = try Frame()
    }

    /// Decodes runs whenever there is a permit for this thread.
    func run(_ shape: FrameShape, _ shared: Monitor<SharedRuns>, _ threads: ThreadBudget) {
        while shared.wait(for: { shared -> Bool? in
            if shared.hasEnded { return false }
            guard shared.permits > 0 else { return nil }
            shared.permits -= 1
            return true
        }) {
            while let run = shared.change(wakes: false, { $0.takeRun(threads) }) { decode(run, shape, shared) }
            threads.release()
        }
    }

    /// Decodes a run, and sets the state of each packet: whether it holds a single frame of the shape.
    func decode(_ run: DecodeRun, _ shape: FrameShape, _ shared: Monitor<SharedRuns>) {
        var isDecoded = true
        if run.packets[0].number != next { isDecoded = (try? decoder.restart(behind: run.lead, dropped)) != nil }
        for packet in run.packets {
            isDecoded = isDecoded && decode(packet, shape)
            shared.change { _ in packet.state = isDecoded ? .decoded : .refused }
        }
        next = isDecoded ? run.packets.last!.number + 1 : nil
    }

    private func decode(_ read: ReadPacket, _ shape: FrameShape) -> Bool {
        guard decoder.send(read.packet) == nil,
            case .samples? = try? decoder.receive(into: read.frame), FrameShape(read.frame) == shape,
            case .needsPacket? = try? decoder.receive(into: dropped)
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
