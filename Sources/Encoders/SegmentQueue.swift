import Bytes

/// The segments of a stream that are being encoded, in order. Threads share it under a lock.
struct SegmentQueue {
    var segments: [EncodedSegment] = []
    /// The number of threads that encode.
    var threads = 0
    /// Counts changes that the writing thread waits for.
    var changes = 0
    var failure: MediaError?
    /// The stream was given up: threads end as soon as possible.
    var isAborted = false
    private var lastID = 0

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    func index(of id: Int) -> Int? { segments.firstIndex { $0.id == id } }

    /// Adds frames to all segments that contain them. `first` is the number of the first one.
    mutating func append(_ frames: [SharedFrame], first: Int) {
        for index in segments.indices { segments[index].append(frames, first: first) }
    }

    /// Ends the stream behind its last frame. Returns whether the last segment is not needed, because it has begun within the tail of
    /// the one before.
    mutating func end(behind count: Int) -> Bool {
        let isNeeded = segments.count < 2 || segments[segments.count - 2].end.map { $0 <= count } ?? true
        if !isNeeded { segments.removeLast() }
        segments[segments.count - 1].endsStream = true
        return !isNeeded
    }
}

/// A part of a stream, and the packets that one encoder made of it.
struct EncodedSegment {
    let id: Int
    let encoder: SegmentEncoder
    /// The number of the first frame.
    let start: Int
    /// The number of the frame behind the last one; `nil` if the stream ends with the segment, or that is unknown.
    var end: Int?
    /// Whether the encoder is flushed behind the last frame.
    var endsStream = false
    /// Whether it is known where the segment's packets begin. Until then, its frames are kept for the encoder before.
    var isConfirmed: Bool
    /// Whether the encoder has made all its packets.
    var isDone = false
    /// The packets that are not written yet, and the number of the first one.
    var packets: [EncodedPacket] = []
    var firstPacket: Int
    /// The last frames before the segment, with which the joint is checked.
    private(set) var before: ArraySlice<SharedFrame>
    private var frames: [SharedFrame] = []
    /// The number of the first kept frame, and that of the next one for the encoder.
    private var firstFrame: Int
    private(set) var nextFrame: Int

    init(id: Int, start: Int, encoder: SegmentEncoder, isConfirmed: Bool, before: ArraySlice<SharedFrame> = []) {
        self.before = before
        self.id = id
        self.start = start
        self.encoder = encoder
        self.isConfirmed = isConfirmed
        (firstPacket, firstFrame, nextFrame) = (start, start, start)
    }

    /// What its encoder has to do next.
    enum Work {
        case encode([SharedFrame])
        /// The stream ends.
        case flush
        /// All frames are encoded, and the stream goes on with the next segment.
        case pause
        /// The segment does not exist any more.
        case stop
    }

    /// The next work; `nil` if it is not known yet.
    mutating func next(atMost count: Int) -> Work? {
        let available = min(firstFrame + frames.count, end ?? Int.max)
        guard nextFrame < available else {
            if endsStream { return .flush }
            return nextFrame == end ? .pause : nil
        }
        let upper = min(nextFrame + count, available)
        let taken = Array(frames[nextFrame - firstFrame..<upper - firstFrame])
        nextFrame = upper
        dropFrames()
        return .encode(taken)
    }

    mutating func append(_ new: [SharedFrame], first: Int) {
        let known = firstFrame + frames.count
        let upper = min(first + new.count, end ?? Int.max)
        guard known >= first, known < upper else { return }
        frames += new[known - first..<upper - first]
    }

    /// Continues behind frames that its encoder has received on another thread.
    mutating func resume(at frame: Int) { (firstFrame, nextFrame) = (frame, frame) }

    /// The frames before the segment and its first ones, which are kept as long as it is not confirmed.
    func framesAround(first count: Int) -> [SharedFrame] { Array(before + frames.prefix(count)) }

    /// Whether there is a packet at a time or behind it.
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
        before = []
        dropFrames()
    }

    /// The segment that the encoder of the one before makes in place of this one.
    func continued(by before: EncodedSegment, id: Int) -> EncodedSegment {
        var segment = self
        segment = EncodedSegment(id: id, start: before.start, encoder: before.encoder, isConfirmed: true)
        (segment.end, segment.endsStream) = (end, endsStream)
        (segment.packets, segment.firstPacket) = (before.packets, before.firstPacket)
        (segment.frames, segment.firstFrame, segment.nextFrame) = (frames, firstFrame, before.nextFrame)
        segment.dropFrames()
        return segment
    }

    private mutating func dropFrames() {
        guard isConfirmed, nextFrame > firstFrame else { return }
        let count = min(nextFrame - firstFrame, frames.count)
        frames.removeFirst(count)
        firstFrame += count
    }
}

/// The encoder of a segment. Only one thread at a time uses it.
final class SegmentEncoder: @unchecked Sendable {
    let encoder: Encoder
    /// The number of its next packet in the stream.
    var nextPacket: Int
    /// Whether it encodes the stream from its start.
    let isFirst: Bool

    init(_ encoder: consuming Encoder, start: Int) {
        self.encoder = encoder
        nextPacket = start
        isFirst = start == 0
    }
}
