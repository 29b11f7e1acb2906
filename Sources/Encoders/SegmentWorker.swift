import Bytes
import CSampleSum
import Libav
import Lifecycle

/// Encodes one segment on a thread.
struct SegmentWorker: Sendable {
    let id: Int
    /// Whether the sum of all samples is computed elsewhere.
    let leavesOutSum: Bool
    let renumber: (@Sendable (EncodedPacket, Int) throws(MediaError) -> Void)?
    let queue: Monitor<SegmentQueue>
    let threads: EncoderThreads

    func run() {
        do throws(MediaError) { try encode() } catch { queue.change { $0.failure = $0.failure ?? error } }
        queue.change { state in
            threads.release()
            state.threads -= 1
            state.changes += 1
        }
    }

    private func encode() throws(MediaError) {
        guard let encoder = queue.read({ state in state.index(of: id).map { state.segments[$0].encoder } }) else {
            return
        }
        sample_sum_leave_out(leavesOutSum)
        let scratch = try Packet()
        let reader = try BlockReader()
        while true {
            let work = nextWork()
            var packets: [EncodedPacket] = []
            switch work {
            case .encode(let block, let numbers):
                try reader.read(block, numbers) { (frame: borrowing Frame) throws(MediaError) in
                    try encoder.encoder.send(frame)
                    try receive(from: encoder, scratch, into: &packets)
                }
            case .flush:
                try encoder.encoder.sendEnd()
                try receive(from: encoder, scratch, into: &packets)
            case .pause: break
            case .stop: return
            }
            let isDone = if case .encode = work { false } else { true }
            queue.change { state in
                guard let index = state.index(of: id) else { return }
                state.segments[index].packets += packets
                state.segments[index].isDone = isDone
                state.changes += 1
            }
            if isDone { return }
        }
    }

    /// Waits for the next work, without counting as a thread meanwhile.
    private func nextWork() -> SegmentQueue.Work {
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
