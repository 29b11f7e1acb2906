import Bytes
import CLibav
import Libav
import Lifecycle
import MediaTypes

/// Encodes a stream in segments on several threads, and joins their packets.
///
/// Each segment has an encoder. It first receives frames that belong to the segment before, so that its state is that of an encoder
/// which has received everything, and last some of those behind. The joint of the codec decides which packets are kept. If it finds
/// none, the encoder before goes on, and the packets of the next one are dropped. The caller feeds frames and receives packets on
/// one thread.
final class SegmentPool {
    private let settings: EncodingSettings
    private let globalHeader: Bool
    private let rule: EncoderJoint
    private let joint: any PacketJoint
    private let threads: EncoderThreads
    private let stop: CancellationFlag
    private let frameSize: Int
    /// Samples by which packets are earlier than the frame with the same number.
    private let delay: Int
    /// The frames in a segment, before its packets, and behind them.
    private let length: Int
    private let lead: Int
    private let tail: Int
    /// The check of joints, and the frames before and behind them that it compares; `nil` if joints are exact.
    private let check: JointCheck?
    private let around: Int
    /// Packets before a joint that may change, or that the check decodes.
    private let reach: Int
    /// Packets that are decoded before those that are compared.
    private let warmup = 40
    /// The last frames.
    private var recent: [SharedFrame] = []
    /// The number of frames that are handed on at once.
    private let batch: Int
    private let queue = Monitor(SegmentQueue())
    /// The first encoder, as long as it runs on the caller's thread.
    private var inline: SegmentEncoder?
    private let scratch: Packet
    private var pending: [SharedFrame] = []
    /// The number of the next frame.
    private var next = 0
    private var isEnded = false
    private var hasEnded = false
    private var ready: [EncodedPacket] = []
    private var readyIndex = 0
    private(set) var report = SegmentReport()

    init?(
        _ encoder: SegmentEncoder, _ settings: EncodingSettings, globalHeader: Bool, threads: EncoderThreads,
        stop: CancellationFlag, joint: (any PacketJoint)? = nil
    ) throws(MediaError) {
        guard let rule = settings.codec.joint, settings.canBeJoined, settings.shape.channels <= rule.maxChannels,
            let frameSize = encoder.encoder.frameSize, threads.count > 1 || !threads.isFixed && rule.startsLate
        else { return nil }
        let shape = settings.shape
        self.settings = settings
        self.globalHeader = globalHeader
        self.rule = rule
        self.threads = threads
        self.stop = stop
        self.frameSize = frameSize
        self.joint = if let joint { joint } else { try settings.joint(rule.rule) }
        scratch = try Packet()
        delay = Int(encoder.encoder.context.pointee.initial_padding)
        lead = rule.lead.frames(rate: shape.rate, frameSize: frameSize)
        tail = rule.tail.frames(rate: shape.rate, frameSize: frameSize)
        length = rule.frames(
            rate: shape.rate, frameSize: frameSize, frameBytes: frameSize * shape.channels * shape.sampleBytes)
        batch = max(shape.rate / frameSize / 4, 1)
        check = rule.isExact ? nil : JointCheck(encoder: encoder, shape: shape)
        around = rule.isExact ? 0 : Int(JointCheck.reach * Double(shape.rate)) / frameSize + 1
        reach = rule.isExact ? rule.reach : max(rule.reach, around + warmup)
        queue.change { $0.segments = [EncodedSegment(id: $0.nextID(), start: 0, encoder: encoder, isConfirmed: true)] }
        threads.beginStream()
        threads.take()
        inline = encoder
        if threads.count > 1 { continueElsewhere() }
    }

    deinit {
        queue.change { $0.isAborted = true }
        _ = queue.wait { $0.threads == 0 ? true : nil }
        if inline != nil { threads.release() }
        threads.endStream()
    }

    func send(_ frame: borrowing Frame) throws(MediaError) {
        if next > 0, next.isMultiple(of: length) { try begin() }
        try joint.add(frame)
        next += 1
        let shared = inline == nil || check != nil ? try SharedFrame(frame) : nil
        if check != nil, let shared {
            if recent.count >= 2 * around { recent.removeFirst(around) }
            recent.append(shared)
        }
        if let inline {
            try inline.encoder.send(frame)
            return try take(from: inline)
        }
        pending.append(shared!)
        if pending.count >= batch { handOn() }
    }

    func sendEnd() throws(MediaError) {
        isEnded = true
        if let inline {
            try inline.encoder.sendEnd()
            try take(from: inline)
            queue.change { ($0.segments[0].endsStream, $0.segments[0].isDone) = (true, true) }
            self.inline = nil
            threads.release()
        } else {
            handOn()
            if queue.change({ [next] in $0.end(behind: next) }) { report.segments -= 1 }
        }
    }

    /// Receives the next packet; returns `false` if it needs more frames or the stream has ended.
    func receive(into packet: borrowing Packet) throws(MediaError) -> Bool {
        while readyIndex == ready.count {
            guard pending.isEmpty || isEnded, !hasEnded else { return false }
            let seen = queue.read(\.changes)
            try advance()
            guard readyIndex == ready.count, !hasEnded else { continue }
            guard isEnded else { return false }
            try wait(since: seen)
        }
        packet.clear()
        av_packet_move_ref(packet.pointer, ready[readyIndex].packet.pointer)
        readyIndex += 1
        if readyIndex == ready.count { (ready, readyIndex) = ([], 0) }
        try joint.finish(packet)
        return true
    }

    /// Takes the packets of the encoder on this thread.
    private func take(from inline: SegmentEncoder) throws(MediaError) {
        while try inline.encoder.receive(into: scratch) {
            let packet = try EncodedPacket(taking: scratch)
            inline.nextPacket += 1
            queue.change { $0.segments[0].packets.append(packet) }
        }
    }

    /// Hands the frames that were collected to their segments.
    private func handOn() {
        queue.change { [pending, next] in $0.append(pending, first: next - pending.count) }
        pending.removeAll(keepingCapacity: true)
    }

    /// Moves the first encoder to another thread, if there is one.
    private func continueElsewhere() {
        let id = queue.change { [next] state in
            state.threads += 1
            state.segments[0].resume(at: next)
            return state.segments[0].id
        }
        if start(id) { inline = nil } else { queue.change { $0.threads -= 1 } }
    }

    /// Begins a segment with the next frame once a thread is free, unless the encoder before has to go on.
    private func begin() throws(MediaError) {
        handOn()
        while true {
            let seen = queue.read(\.changes)
            try advance()
            guard threads.dividesStreams else {
                // The encoder goes on. It may only be behind by a segment, because that is kept in memory.
                if inline != nil || queue.read({ [next, batch] in $0.segments.last!.nextFrame + batch >= next }) {
                    return
                }
                try wait(since: seen)
                continue
            }
            // Segments whose packets wait for those of a slower one hold memory.
            let count = queue.read(\.segments.count)
            if count <= threads.count, threads.acquire() { break }
            try wait(since: seen)
        }
        if inline != nil { continueElsewhere() }
        guard inline == nil else { return threads.release() }
        let encoder = SegmentEncoder(try Encoder.open(settings, globalHeader: globalHeader), start: next)
        let id = queue.change { [next, before = recent.suffix(around)] state in
            let id = state.nextID()
            state.segments.append(
                EncodedSegment(id: id, start: next, encoder: encoder, isConfirmed: false, before: before))
            state.threads += 1
            return id
        }
        guard start(id) else {
            // The encoder before goes on.
            queue.change { state in
                state.segments.removeLast()
                state.threads -= 1
            }
            return threads.release()
        }
        queue.change { [next, lead, tail] in $0.segments[$0.segments.count - 2].end = next + lead + tail }
        report.segments += 1
    }

    private func wait(since seen: Int) throws(MediaError) {
        if stop.isRaised { throw .stopped }
        _ = queue.wait(atMost: .milliseconds(20)) { $0.changes != seen ? true : nil }
    }
}

// Joining.
extension SegmentPool {
    private enum Step {
        case none, over
        case join(PacketRun, PacketRun, planned: Int)
    }

    /// Collects the packets that will not change.
    private func advance() throws(MediaError) {
        while true {
            switch try step() {
            case .none: return
            case .over:
                hasEnded = true
                return
            case .join(let running, let next, let planned):
                if let joined = try joint.join(running, next, at: planned), try isClean(joined, next) {
                    report.joints += 1
                    ready += joined.kept
                    queue.change { state in
                        state.segments.removeFirst()
                        state.segments[0].confirm(dropping: joined.dropped)
                    }
                } else {
                    try goOn()
                }
            }
        }
    }

    private func step() throws(MediaError) -> Step {
        let step = queue.change { (state: inout SegmentQueue) -> Result<Step, MediaError> in
            if let failure = state.failure { return .failure(failure) }
            let isLast = state.segments[0].endsStream
            let boundary = state.segments.count > 1 ? state.segments[1].start : nextBoundary
            let unchanging = state.segments[0].takePackets(before: isLast ? nil : time(of: boundary + lead - reach))
            ready += unchanging
            guard state.segments[0].isDone else { return .success(.none) }
            if isLast { return .success(.over) }
            let end = time(of: boundary + lead + max(tail, 1) + around)
            guard state.segments[1].isDone || state.segments[1].reaches(end) else { return .success(.none) }
            // Later packets are left out, so that the joint does not depend on how fast the threads are.
            return .success(
                .join(state.segments[0].run(), state.segments[1].run(before: end), planned: boundary + lead))
        }
        return try step.get()
    }

    /// The time of the packet with the same number as a frame.
    private func time(of frame: Int) -> Int64 { Int64(frame * frameSize - delay) }

    /// Whether the samples around a joint are as near to the source as elsewhere.
    private func isClean(_ joined: Joined, _ next: PacketRun) throws(MediaError) -> Bool {
        guard let check, let first = next.packets.dropFirst(joined.dropped).first else { return true }
        let frames = queue.read { $0.segments[1].framesAround(first: lead + around + tail) }
        return try check.isClean(
            joined.kept.suffix(around + warmup) + next.packets.dropFirst(joined.dropped), at: first.time, frames)
    }

    /// The number of the frame with which the next segment may begin.
    private var nextBoundary: Int { (max(next, 1) + length - 1) / length * length }

    /// Lets the encoder of the first segment go on, and drops the work of the second one.
    private func goOn() throws(MediaError) {
        report.fallbacks += 1
        threads.take()
        let id = queue.change { state in
            let id = state.nextID()
            let segment = state.segments[1].continued(by: state.segments[0], id: id)
            state.segments.replaceSubrange(0...1, with: [segment])
            state.threads += 1
            return id
        }
        guard !start(id) else { return }
        queue.change { $0.threads -= 1 }
        threads.release()
        throw MediaError(.internal, "encode the audio", "no thread could be started")
    }
}

// The threads.
extension SegmentPool {
    /// Starts the thread of a segment; returns `false` if there can be none.
    private func start(_ id: Int) -> Bool {
        let worker = SegmentWorker(
            id: id, renumber: type(of: joint).renumber, batch: batch, queue: queue, threads: threads)
        return tryStartThread { worker.run() }
    }
}
