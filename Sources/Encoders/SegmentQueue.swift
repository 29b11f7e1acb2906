import Bytes

/// The segments of a stream that are being encoded, in order, and the frames that they need. Threads share it under a lock.
struct SegmentQueue {
    var segments: [EncodedSegment]
    /// The number of threads that encode.
    var threads = 0
    /// Counts changes that the writing thread waits for.
    var changes = 0
    var failure: MediaError?
    /// The stream was given up: threads end as soon as possible.
    var isAborted = false
    /// The frames around a joint that its check compares with what is decoded, on each side.
    let around: Int
    /// The memory size of the frames.
    private(set) var bytes = 0
    /// The frames that an encoder or the check of a joint may need, and the number of the frame after them.
    private var blocks: [FrameBlock] = []
    private(set) var nextFrame = 0
    /// From the first frame with which the next segment may begin to the earliest one before which the encoder of the last segment
    /// may then end; `nil` if the place of the next segment is known.
    private var held: Range<Int>?
    private var lastID = 0
    /// Encoders whose segment is encoded, and that another segment can use.
    private var spares: [SegmentEncoder] = []

    /// Starts with the first encoder.
    init(_ encoder: SegmentEncoder, _ early: EarlyPackets, around: Int) {
        self.around = around
        segments = [EncodedSegment(id: 0, early, encoder: encoder, isConfirmed: true)]
    }

    private mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Keeps frames with which the next segment may begin, and lets the encoder of the last one go on to a frame at most.
    mutating func hold(from frame: Int, before end: Int) { held = frame..<end }

    /// Lets the encoder of the last segment go on.
    mutating func endHold() { held = nil }

    /// Begins a segment, which waits for a thread. The encoder of the one before ends before a frame.
    mutating func begin(_ early: EarlyPackets, fade: Int? = nil, endingBefore end: Int) {
        held = nil
        segments[segments.count - 1].end = end
        segments.append(EncodedSegment(id: nextID(), early, fade: fade, encoder: nil, isConfirmed: false))
    }

    /// The segment that waits for a thread, if there is one. It is the last one.
    var waiting: Int? { segments.last.flatMap { $0.isWaiting ? $0.id : nil } }

    /// Takes the segment that waits for a thread, unless the stream has failed.
    mutating func dequeue() -> Int? {
        guard !isAborted, failure == nil, let id = waiting else { return nil }
        segments[segments.count - 1].isWaiting = false
        return id
    }

    /// Lets a segment wait again.
    mutating func requeue(_ id: Int) {
        if let index = index(of: id) { segments[index].isWaiting = true }
    }

    /// The encoder of a segment that has one, or one that was used before.
    mutating func encoder(of id: Int) -> SegmentEncoder? {
        guard let index = index(of: id) else { return nil }
        if segments[index].encoder == nil, let spare = spares.popLast() {
            spare.restart(at: segments[index].start)
            segments[index].encoder = spare
        }
        return segments[index].encoder
    }

    /// Keeps the encoder of a complete segment for another one.
    mutating func keepForReuse(_ id: Int) {
        guard let index = index(of: id), let encoder = segments[index].encoder else { return }
        spares.append(encoder)
        segments[index].encoder = nil
    }

    func index(of id: Int) -> Int? { segments.firstIndex { $0.id == id } }

    /// Adds the next frames.
    mutating func append(_ block: FrameBlock) {
        blocks.append(block)
        bytes += block.bytes
        nextFrame = block.numbers.upperBound
    }

    /// Continues after frames that the first encoder has received on the caller's thread.
    mutating func skip(to frame: Int) {
        nextFrame = frame
        segments[0].nextFrame = frame
        dropFrames()
    }

    /// The kept ones of some frames.
    func frames(_ numbers: Range<Int>) -> FrameSpan {
        FrameSpan(blocks: blocks.filter { $0.numbers.overlaps(numbers) }, numbers: numbers)
    }

    /// What the encoder of a segment has to do next.
    enum Work {
        case encode(FrameBlock, Range<Int>)
        /// The stream ends.
        case flush
        /// All frames are encoded, and the stream goes on with the next segment.
        case pause
        /// The segment does not exist any more.
        case stop
    }

    /// The next work of a segment; `nil` if it is not known yet.
    mutating func work(of id: Int) -> Work? {
        guard !isAborted, let index = index(of: id) else { return .stop }
        let first = segments[index].nextFrame
        let available = availableFrame(segments[index])
        guard first < available, let block = blocks.last(where: { $0.numbers.lowerBound <= first }) else {
            if segments[index].endsStream { return .flush }
            if first == segments[index].end { return .pause }
            segments[index].isIdle = true
            return nil
        }
        segments[index].isIdle = false
        let numbers = first..<min(block.numbers.upperBound, available)
        segments[index].nextFrame = numbers.upperBound
        dropFrames()
        return .encode(block, numbers)
    }

    /// Whether the first encoder that is not done has frames to encode.
    var hasWork: Bool {
        segments.first { !$0.isDone }.map { !$0.isIdle || $0.nextFrame < availableFrame($0) } ?? false
    }

    /// The number of the frame after those that the encoder of a segment may receive now.
    private func availableFrame(_ segment: EncodedSegment) -> Int {
        min(nextFrame, segment.end ?? held?.upperBound ?? Int.max)
    }

    /// The packets of the first two segments around their joint, once both encoders have made them: all of the first one, and those of
    /// the second one before `end`. Others are left out, so that the joint does not depend on how fast the threads are.
    func runs(before end: Int64) -> (PacketRun, PacketRun)? {
        guard segments[0].isDone, segments[1].isDone || segments[1].reaches(end) else { return nil }
        return (segments[0].run(), segments[1].run(before: end))
    }

    /// Lets the first encoder, which is done, go on to a frame that is known. Returns the segment, which needs a thread.
    mutating func continueFirst(to frame: Int) -> Int {
        segments[0].end = frame
        segments[0].isDone = false
        return segments[0].id
    }

    /// Drops the packets of the first segment, and those of the next one before the one at an index.
    mutating func join(dropping count: Int) {
        segments.removeFirst()
        segments[0].confirm(dropping: count)
        dropFrames()
    }

    /// Lets the first encoder make the second segment as well.
    mutating func mergeFirst() -> Int {
        let id = nextID()
        segments.replaceSubrange(0...1, with: [segments[1].continued(by: segments[0], id: id)])
        dropFrames()
        return id
    }

    /// Ends the stream after its last frame. Returns whether the last segment is not needed, because it has begun so late that the
    /// overlap is not complete.
    mutating func end(after count: Int, overlap: Int) -> Bool {
        let isNeeded = segments.count < 2 || segments[segments.count - 1].start + overlap <= count
        held = nil
        if !isNeeded { segments.removeLast() }
        segments[segments.count - 1].endsStream = true
        return !isNeeded
    }

    /// Drops the frames before all that may be needed. Those of an unconfirmed segment are kept for the previous encoder.
    private mutating func dropFrames() {
        let needed = segments.map { $0.isConfirmed ? $0.nextFrame : $0.start - around }.min() ?? 0
        let kept = min(needed, min(nextFrame, held?.lowerBound ?? Int.max) - around)
        let dropped = blocks.prefix { $0.numbers.upperBound <= kept }
        bytes -= dropped.reduce(0) { $0 + $1.bytes }
        blocks.removeFirst(dropped.count)
    }
}

/// A part of a stream, and the packets that one encoder made of it.
struct EncodedSegment {
    let id: Int
    /// `nil` until a thread encodes the segment, and once another segment may use it.
    var encoder: SegmentEncoder?
    /// Whether the segment waits for a thread.
    var isWaiting: Bool
    /// The segment's first packets. They are those of its own encoder, although the one before may go on, so that the start of the
    /// next segment does not depend on when it does.
    private(set) var early: EarlyPackets
    /// The samples at its start that are faded in.
    let fade: Int?
    /// The number of the frame after the last one; `nil` if the stream ends with the segment, or that is unknown.
    var end: Int?
    /// Whether the encoder is flushed after the last frame.
    var endsStream = false
    /// Whether it is known where the segment's packets begin. Until then, its frames are kept for the previous encoder.
    var isConfirmed: Bool
    /// Whether the encoder has made all its packets.
    var isDone = false
    /// Whether the encoder waits for frames.
    var isIdle = false
    /// The packets that are not written yet, and the number of the first one.
    private(set) var packets: [EncodedPacket] = []
    private var firstPacket: Int
    /// The number of the next frame for the encoder.
    var nextFrame: Int

    /// The number of the first frame.
    var start: Int { early.start }

    /// A segment without an encoder waits for a thread.
    init(id: Int, _ early: EarlyPackets, fade: Int? = nil, encoder: SegmentEncoder?, isConfirmed: Bool) {
        self.id = id
        (self.early, self.fade) = (early, fade)
        self.encoder = encoder
        self.isConfirmed = isConfirmed
        isWaiting = encoder == nil
        (firstPacket, nextFrame) = (early.start, early.start)
    }

    /// Adds packets that the encoder has made.
    mutating func add(_ made: [EncodedPacket]) {
        packets += made
        for packet in made { early.add(packet) }
    }

    /// Whether there is a packet at a time or after it.
    func reaches(_ time: Int64) -> Bool { packets.last.map { $0.time >= time } ?? false }

    /// The packets before a time.
    func run(before end: Int64? = nil) -> PacketRun {
        let count = end.flatMap { end in packets.firstIndex { $0.time >= end } } ?? packets.count
        return PacketRun(first: firstPacket, packets: Array(packets[..<count]))
    }

    /// Removes the packets before a time.
    mutating func takePackets(before end: Int64?) -> [EncodedPacket] {
        let taken = run(before: end).packets
        packets.removeFirst(taken.count)
        firstPacket += taken.count
        return taken
    }

    /// Confirms that the segment's packets begin with the one at an index.
    mutating func confirm(dropping count: Int) {
        packets.removeFirst(count)
        firstPacket += count
        isConfirmed = true
    }

    /// The segment that the encoder of the one before makes in place of this one.
    func continued(by before: EncodedSegment, id: Int) -> EncodedSegment {
        var segment = EncodedSegment(id: id, early, encoder: before.encoder, isConfirmed: true)
        (segment.end, segment.endsStream) = (end, endsStream)
        (segment.packets, segment.firstPacket) = (before.packets, before.firstPacket)
        segment.nextFrame = before.nextFrame
        return segment
    }
}
