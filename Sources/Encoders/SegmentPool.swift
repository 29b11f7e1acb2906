import Bytes
import CLibav
import Libav
import Lifecycle
import MediaTypes

/// Encodes a stream in segments on several threads, and joins their packets.
///
/// An encoder makes each segment. It first receives frames that belong to the segment before, so that its state is that of an encoder
/// which has received everything, and last some frames of the segment after. The joint of the codec decides which packets are kept. If it finds
/// none, the previous encoder goes on, and at last the packets of the next one are dropped. The caller feeds frames and receives packets on
/// one thread.
final class SegmentPool {
    private let joint: any PacketJoint
    private let threads: ThreadBudget
    private let stop: CancellationFlag
    private let frameSize: Int
    /// Samples by which packets are earlier than the frame with the same number.
    private var delay: Int
    private var plan: SegmentPlan
    /// How often there was no joint at a place in the tail.
    private var tried = 0
    /// The check of joints, and the frames before and after them that it compares; `nil` if joints are exact.
    private let check: JointCheck?
    private let around: Int
    /// Packets before a joint that may change, or that the check decodes.
    private let reach: Int
    /// The number of frames that are handed on at once.
    private let batch: Int
    private let queue: Monitor<SegmentQueue>
    private let worker: SegmentWorker
    /// The first encoder, as long as it runs on the caller's thread.
    private var inline: SegmentEncoder?
    private let scratch: Packet
    private var pending: OpenBlock
    /// The number of the next frame.
    private var next = 0
    /// How often there was no thread at all.
    private var refusals = 0
    private var (isEnded, hasEnded) = (false, false)
    private var ready: [EncodedPacket] = []
    private var readyIndex = 0
    private(set) var report = SegmentReport()

    init?(
        _ encoder: SegmentEncoder, _ settings: EncodingSettings, globalHeader: Bool, threads: ThreadBudget,
        stop: CancellationFlag, joint: (any PacketJoint)? = nil
    ) throws(MediaError) {
        guard let rule = settings.codec.joint, settings.canBeJoined, let frameSize = encoder.encoder.frameSize,
            threads.count > 1 || !threads.isFixed && rule.startsLate
        else { return nil }
        let shape = settings.shape
        self.threads = threads
        self.stop = stop
        self.frameSize = frameSize
        let joint = if let joint { joint } else { try settings.joint(rule.rule, frameSize: frameSize) }
        self.joint = joint
        scratch = try Packet()
        delay = Int(encoder.encoder.context.pointee.initial_padding)
        plan = SegmentPlan(rule, settings, encoder.encoder, frameSize: frameSize)
        batch = max(shape.rate / frameSize / 4, 1)
        around = rule.isExact ? 0 : Int(JointCheck.reach * Double(shape.rate)) / frameSize + 1
        check =
            rule.isExact
            ? nil
            : JointCheck(
                encoder: encoder, shape: shape, late: settings.codec.edges.padding.late(rate: shape.rate),
                // Main data of MP3 begins at most ten frames before its frame. Other decoders converge as encoders do.
                warmup: frameSize * max(13, min(plan.lead, around)))
        reach = rule.isExact ? rule.reach : max(rule.reach, around + max(40, around))
        pending = try OpenBlock(shape, frameSize: frameSize, capacity: batch)
        queue = Monitor(SegmentQueue(encoder, plan.earlyPackets(0), around: around))
        worker = SegmentWorker(
            settings, globalHeader: globalHeader, sharesEncoders: rule.sharesEncoders, type(of: joint), queue, threads)
        threads.beginStream()
        threads.take()
        inline = encoder
        if threads.count > 1 { _ = try continueElsewhere() }
    }

    /// The memory size of the frames that are kept.
    var bytes: Int { queue.read(\.bytes) }

    deinit {
        queue.change { $0.isAborted = true }
        _ = queue.wait { $0.threads == 0 ? true : nil }
        if inline != nil { threads.release() }
        threads.endStream()
    }

    func send(_ frame: borrowing Frame) throws(MediaError) {
        // The audio may begin with silence that WMA needs, before time 0.
        if next == 0 { delay -= Int(frame.timestamp ?? 0) }
        if plan.isPlanned(next) { try begin() }
        if plan.opensSearch(next) { try search(channels: frame.channels) }
        plan.add(frame, number: next)
        try joint.add(frame)
        next += 1
        if inline == nil || check != nil { try pending.append(frame, number: next - 1) }
        if let inline {
            try inline.encoder.send(frame)
            try take(from: inline)
        }
        guard pending.isFull else { return }
        try submit()
        guard inline == nil else { return }
        try startWaiting()
        try waitForRoom()
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
            try submit()
            if queue.change({ [next, plan] in $0.end(after: next, overlap: plan.overlap) }) { report.segments -= 1 }
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
            queue.change { $0.segments[0].add([packet]) }
        }
    }

    /// Hands the frames that were collected to their segments.
    private func submit() throws(MediaError) {
        guard let block = try pending.take() else { return }
        queue.change { [isInline = inline != nil] state in
            state.append(block)
            if isInline { state.skip(to: block.numbers.upperBound) }
        }
    }

    /// Waits until encoders have received some of the frames, if these take much memory. The first one can always go on.
    private func waitForRoom() throws(MediaError) {
        while true {
            let (seen, isFull) = queue.read { [maxBytes] in
                ($0.changes, $0.bytes > maxBytes && $0.hasWork)
            }
            guard isFull else { return }
            try advance()
            try wait(since: seen)
        }
    }

    /// Moves the first encoder to another thread, if it is on this one and there is another; returns whether it is on another.
    private func continueElsewhere() throws(MediaError) -> Bool {
        guard inline != nil else { return true }
        try submit()
        let id = queue.change { [next] state in
            state.skip(to: next)
            return state.segments[0].id
        }
        if start(id) { inline = nil }
        return inline == nil
    }

    /// Searches an attack for the next segment. The previous encoder waits where it may have to end, unless it is on this thread.
    private func search(channels: Int) throws(MediaError) {
        guard inline == nil || threads.dividesStreams, try continueElsewhere() else { return }
        plan.search(channels: channels)
        queue.change { [next, plan] in $0.hold(from: next, before: next + plan.overlap) }
    }

    /// Begins a segment, unless the previous encoder has to go on. One segment is decoded before a thread is free for it, so that a
    /// thread which becomes free need not wait.
    private func begin() throws(MediaError) {
        try submit()
        while true {
            let seen = queue.read(\.changes)
            try advance()
            guard threads.dividesStreams else {
                plan.endSearch()
                queue.change { $0.endHold() }
                // The encoder goes on. It may only be late by a segment, because that is kept in memory.
                if inline != nil || queue.read({ [next, batch] in $0.segments.last!.nextFrame + batch >= next }) {
                    return
                }
                try wait(since: seen)
                continue
            }
            // Segments whose packets wait for those of a slower one hold memory.
            let (count, isWaiting, isKnown) = queue.read {
                ($0.segments.count, $0.waiting != nil, $0.segments.last!.early.isComplete)
            }
            if count <= threads.count, !isWaiting, isKnown { break }
            try wait(since: seen)
        }
        guard try continueElsewhere() else { return }
        let (start, fade) = plan.takeStart(planned: next, after: queue.read { $0.segments.last!.early })
        queue.change { [plan] state in
            state.begin(plan.earlyPackets(start), fade: fade, endingBefore: start + plan.overlap)
        }
        report.segments += 1
        try startWaiting()
    }

    /// Starts a thread for the segment that waits for one, if that is allowed. Otherwise the next thread that is done takes it.
    private func startWaiting() throws(MediaError) {
        let (isWaiting, isAlone) = queue.read { ($0.waiting != nil, $0.threads == 0) }
        guard isWaiting else { return }
        // A stream can always continue with one encoder.
        if isAlone { threads.take() } else if !threads.acquire() { return }
        guard let id = queue.change({ $0.dequeue() }) else { return threads.release() }
        if start(id) { return }
        threads.release()
        queue.change { $0.requeue(id) }
        guard queue.read({ $0.threads == 0 }) else { return }
        refusals += 1
        if refusals == Self.maxRefusals { throw Self.noThread }
        _ = queue.wait(atMost: .milliseconds(20)) { _ in Bool?.none }
    }

    /// The maximum memory size of frames. With two threads there is room for a minute of floats in stereo at 44.1 kHz.
    private var maxBytes: Int { (2 + 10 * threads.share) << 20 }

    private static let maxRefusals = 50
    private static let noThread = MediaError.noThread("encode the audio")

    private func wait(since seen: Int) throws(MediaError) {
        if stop.isRaised { throw .stopped }
        try startWaiting()
        _ = queue.wait(atMost: .milliseconds(20)) { $0.changes != seen ? true : nil }
    }
}

extension SegmentPool {
    private enum Step {
        case none, ended
        case join(PacketRun, PacketRun, planned: Int, isLast: Bool)
    }

    /// Collects the packets that will not change.
    private func advance() throws(MediaError) {
        while true {
            switch try nextStep() {
            case .none: return
            case .ended:
                hasEnded = true
                return
            case .join(let running, let next, let planned, let isLast):
                let joined = try bestJoint(running, next, at: planned, isLast: isLast)
                tried = joined == nil && !isLast ? tried + 1 : 0
                if let joined {
                    report.joints += 1
                    ready += joined.kept
                    queue.change { $0.join(dropping: joined.dropped) }
                } else if isLast {
                    // The work of the second encoder is dropped.
                    report.fallbacks += 1
                    try resumePrevious { $0.mergeFirst() }
                } else {
                    try resumePrevious { [end = planned + framesAfter(planned)] in $0.continueFirst(to: end) }
                }
            }
        }
    }

    private func nextStep() throws(MediaError) -> Step {
        let found = queue.change(wakes: false) { (state: inout SegmentQueue) -> Result<Step, MediaError> in
            if let failure = state.failure { return .failure(failure) }
            let endsStream = state.segments[0].endsStream
            let start = state.segments.count > 1 ? state.segments[1].start : plan.earliestStart(after: next)
            let planned = start + plan.lead
            let unchanging = state.segments[0].takePackets(before: endsStream ? nil : time(of: planned - reach))
            ready += unchanging
            if endsStream { return .success(state.segments[0].isDone ? .ended : .none) }
            let after = framesAfter(planned)
            guard let (running, next) = state.runs(before: time(of: planned + max(after, 1) + around)) else {
                return .success(.none)
            }
            let isLast = after == plan.tail || isEnded && planned + after == self.next
            return .success(.join(running, next, planned: planned, isLast: isLast))
        }
        return try found.get()
    }

    /// The frames after a planned joint that the previous encoder has received when it is looked for next.
    private func framesAfter(_ planned: Int) -> Int {
        let after = plan.framesAfterJoint(attempts: tried)
        return isEnded ? min(after, next - planned) : after
    }

    /// The time of the packet with the same number as a frame.
    private func time(of frame: Int) -> Int64 { Int64(frame * frameSize - delay) }

    private func bestJoint(
        _ running: PacketRun, _ next: PacketRun, at planned: Int, isLast: Bool
    ) throws(MediaError) -> Joined? {
        try JointSearch(running: running, next: next, planned: planned, check: check).best(joint, isLast: isLast) {
            queue.read { [plan, around] in
                let start = $0.segments[1].start
                return $0.frames(start - around..<start + plan.lead + plan.tail + around)
            }
        }
    }

    /// Lets the encoder of the first segment go on.
    private func resumePrevious(_ change: (inout SegmentQueue) -> Int) throws(MediaError) {
        threads.take()
        let id = queue.change(change)
        for _ in 0..<Self.maxRefusals {
            if start(id) { return }
            if stop.isRaised { break }
            _ = queue.wait(atMost: .milliseconds(20)) { _ in Bool?.none }
        }
        threads.release()
        throw stop.isRaised ? .stopped : Self.noThread
    }

    /// Starts the thread of a segment; returns `false` if there can be none.
    private func start(_ id: Int) -> Bool {
        queue.change { $0.threads += 1 }
        if tryStartThread({ [worker] in worker.run(id) }) { return true }
        queue.change { $0.threads -= 1 }
        return false
    }
}
