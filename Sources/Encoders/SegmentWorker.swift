import Bytes
import CSampleSum
import Libav
import Lifecycle
import MediaTypes

/// Encodes segments on a thread.
struct SegmentWorker: Sendable {
    // Nothing changes the settings.
    nonisolated(unsafe) private let settings: EncodingSettings
    private let globalHeader: Bool
    /// Whether an encoder can continue with another segment.
    private let sharesEncoders: Bool
    /// Whether the sum of all samples is computed elsewhere.
    private let leavesOutSum: Bool
    private let renumber: (@Sendable (EncodedPacket, Int) throws(MediaError) -> Void)?
    private let queue: Monitor<SegmentQueue>
    private let threads: ThreadBudget

    init(
        _ settings: EncodingSettings, globalHeader: Bool, sharesEncoders: Bool, _ joint: any PacketJoint.Type,
        _ queue: Monitor<SegmentQueue>, _ threads: ThreadBudget
    ) {
        self.settings = settings
        self.globalHeader = globalHeader
        self.sharesEncoders = sharesEncoders
        leavesOutSum = joint.sumsSamples
        renumber = joint.renumber
        self.queue = queue
        self.threads = threads
    }

    /// Encodes a segment, and then those that wait for a thread.
    func run(_ id: Int) {
        var next: Int? = id
        while let id = next {
            do throws(MediaError) { try encode(id) } catch { queue.change { $0.failure = $0.failure ?? error } }
            next = dequeue()
        }
        queue.change { state in
            state.threads -= 1
            state.changes += 1
        }
    }

    /// Gives the thread back, and takes it again for a segment that waits, if the number of threads still allows it. The last one of
    /// a stream always goes on.
    private func dequeue() -> Int? {
        threads.release()
        let (isWaiting, isLast) = queue.read { ($0.waiting != nil, $0.threads == 1) }
        guard isWaiting else { return nil }
        if isLast { threads.take() } else if !threads.acquire() { return nil }
        let id = queue.change { $0.dequeue() }
        if id == nil { threads.release() }
        return id
    }

    private func encode(_ id: Int) throws(MediaError) {
        guard let encoder = try encoder(of: id) else { return }
        sample_sum_leave_out(leavesOutSum)
        let scratch = try Packet()
        let reader = try BlockReader()
        while true {
            let work = nextWork(id)
            var packets: [EncodedPacket] = []
            switch work {
            case .encode(let block, let numbers):
                try reader.read(block, numbers) { (frame: borrowing Frame) throws(MediaError) in
                    try encoder.send(frame)
                    try receive(from: encoder, scratch, into: &packets)
                }
            case .flush:
                try encoder.encoder.sendEnd()
                try receive(from: encoder, scratch, into: &packets)
            case .pause: break
            case .stop: return
            }
            let isDone = if case .encode = work { false } else { true }
            let isSpare = if case .pause = work { sharesEncoders } else { false }
            queue.change { state in
                guard let index = state.index(of: id) else { return }
                state.segments[index].add(packets)
                state.segments[index].isDone = isDone
                if isSpare { state.keepForReuse(id) }
                state.changes += 1
            }
            if isDone { return }
        }
    }

    /// The encoder of a segment, which is opened if there is none; `nil` if the segment does not exist any more.
    private func encoder(of id: Int) throws(MediaError) -> SegmentEncoder? {
        if let encoder = queue.change(wakes: false, { $0.encoder(of: id) }) { return encoder }
        guard let segment = queue.read({ state in state.index(of: id).map { state.segments[$0] } }) else { return nil }
        let encoder = SegmentEncoder(
            try Encoder.open(settings, globalHeader: globalHeader), start: segment.start,
            fade: try segment.fade.map { (length) throws(MediaError) in
                try SegmentFade(length: length, settings.shape)
            })
        if let bitRate = settings.bitRate, let raise = settings.codec.joint?.bitRateRaise {
            encoder.raiseBitRate(bitRate, raise)
        }
        queue.change(wakes: false) { state in
            if let index = state.index(of: id) { state.segments[index].encoder = encoder }
        }
        return encoder
    }

    /// Waits for the next work, without counting as a thread meanwhile.
    private func nextWork(_ id: Int) -> SegmentQueue.Work {
        if let work = queue.change(wakes: false, { $0.work(of: id) }) { return work }
        threads.release()
        defer { threads.take() }
        queue.change { $0.changes += 1 }
        return queue.wait { $0.work(of: id) }
    }

    private func receive(
        from encoder: SegmentEncoder, _ scratch: borrowing Packet, into packets: inout [EncodedPacket]
    ) throws(MediaError) {
        while try encoder.encoder.receive(into: scratch) {
            let packet = try EncodedPacket(taking: scratch)
            if !encoder.isFirst { try renumber?(packet, encoder.nextPacket) }
            encoder.nextPacket += 1
            packets.append(packet)
        }
    }
}
