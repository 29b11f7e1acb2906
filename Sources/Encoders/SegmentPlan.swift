import Libav
import MediaTypes

/// Where the segments of a stream begin. That depends on the source and the settings alone. Numbers are of frames.
struct SegmentPlan {
    /// What encoders receive before and behind their own packets.
    let lead: Int
    let tail: Int
    /// The frames between two places in the tail where a joint is looked for.
    let step: Int?
    /// The samples at the start of the lead that are faded in.
    let fade: Int?
    /// The frames from one planned start to the next.
    private let length: Int
    private let period: Int
    /// The frames before a planned start with which the segment may begin.
    private let searched: Int
    private var attacks: AttackFinder?
    private let grid: BlockGrid?
    private let frameSize: Int

    init(_ rule: EncoderJoint, _ settings: EncodingSettings, _ encoder: borrowing Encoder, frameSize: Int) {
        let shape = settings.shape
        func frames(_ span: EncoderJoint.Span) -> Int { span.frames(rate: shape.rate, frameSize: frameSize) }
        (lead, tail, step, period) = (frames(rule.lead), frames(rule.tail), rule.step.map(frames), rule.period)
        fade = rule.fade.map { frames($0) * frameSize }
        let frameBytes = frameSize * shape.channels * shape.sampleBytes
        length = rule.frames(
            rate: shape.rate, frameSize: frameSize, frameBytes: frameBytes, expected: settings.expectedSeconds)
        let most = min(length - 2 * (lead + tail), Self.maxSearchedBytes / frameBytes)
        searched = min(rule.attackSearch.map(frames) ?? 0, most) / period * period
        grid = searched > 0 ? BlockGrid(headers: encoder.headers) : nil
        self.frameSize = frameSize
    }

    /// The memory size of the frames that are searched for an attack.
    private static let maxSearchedBytes = 8 << 20

    /// The packets of a segment that begins with a frame, on which the place of the next one depends.
    func earlyPackets(_ start: Int) -> EarlyPackets {
        EarlyPackets(start: start, samples: grid == nil ? 0 : 2 * lead * frameSize)
    }

    /// Whether a start is planned with a frame.
    func isPlanned(_ frame: Int) -> Bool { frame > 0 && frame.isMultiple(of: length) }

    /// Whether a segment may begin with a frame or with one of the next ones, so that they are searched for an attack.
    func opensSearch(_ frame: Int) -> Bool { searched > 0 && frame % length == length - searched }

    /// Begins the search.
    mutating func search(channels: Int) { attacks = AttackFinder(channels: channels) }

    /// Takes each frame in order.
    mutating func add(_ frame: borrowing Frame, number: Int) { attacks?.add(frame, number: number) }

    /// Where the segment begins whose start is planned with a frame: such that the strongest attack is in its lead, and that without
    /// one it has the blocks of the segment before.
    mutating func start(planned: Int, behind before: EarlyPackets) -> Int {
        guard let attacks else { return planned }
        // Behind the fade, and before the first possible joint.
        let start = attacks.strongest.map { ($0 - lead * 9 / 10) / period * period } ?? planned
        self.attacks = nil
        let shift = grid?.shift(before.times)
        let aligned = shift.flatMap {
            grid?.aligned(start, to: before.start, shift: $0, frameSize: frameSize)
        }
        return max(aligned ?? start, planned - searched)
    }

    /// Ends the search; the next segment begins where it was planned.
    mutating func endSearch() { attacks = nil }

    /// The first frame with which the next segment may begin, if as many frames are known.
    func earliestStart(behind frames: Int) -> Int {
        (max(frames, 1) + length - 1) / length * length - searched
    }
}
