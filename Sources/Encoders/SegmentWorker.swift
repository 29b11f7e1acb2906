import Bytes
import Libav
import Lifecycle

/// Encodes one segment on a thread.
struct SegmentWorker: Sendable {
    let id: Int
    let renumber: (@Sendable (EncodedPacket, Int) throws(MediaError) -> Void)?
    /// The number of frames that are encoded at once.
    let batch: Int
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
        let scratch = try Packet()
        let frame = try Frame()
        while true {
            let work = nextWork()
            var packets: [EncodedPacket] = []
            switch work {
            case .encode(let frames):
                for shared in frames {
                    // The next segment's thread may read the same frame.
                    try frame.share(shared.frame)
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
    private func nextWork() -> EncodedSegment.Work {
        func next(_ state: inout SegmentQueue) -> EncodedSegment.Work? {
            guard !state.isAborted, let index = state.index(of: id) else { return .stop }
            return state.segments[index].next(atMost: batch)
        }
        if let work = queue.wait(atMost: .zero, for: next) { return work }
        threads.release()
        defer { threads.take() }
        queue.change { $0.changes += 1 }
        return queue.wait(for: next)
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
