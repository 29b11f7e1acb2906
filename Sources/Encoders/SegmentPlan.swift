import Libav
import MediaTypes

/// Where the segments of a stream begin. That depends on the source and the settings alone. Numbers are of frames.
struct SegmentPlan {
    /// What encoders receive before and after their own packets.
    let lead: Int
    let tail: Int
    /// The frames between two places in the tail where a joint is looked for.
    private let step: Int
    /// The samples at the start of the lead that are faded in.
    private let fade: Int?
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
        (lead, tail, period) = (frames(rule.lead), frames(rule.tail), rule.period)
        step = rule.step.map(frames) ?? tail
        fade = rule.fade.map { frames($0) * frameSize }
        let frameBytes = frameSize * shape.channels * shape.sampleBytes
        length = rule.frames(
            rate: shape.rate, frameSize: frameSize, frameBytes: frameBytes, expected: settings.expectedSeconds)
        let maxSearched = min(length - 2 * (lead + tail), Self.maxSearchedBytes / frameBytes)
        searched = min(rule.attackSearch.map(frames) ?? 0, maxSearched) / period * period
        grid = searched > 0 ? BlockGrid(headers: encoder.headers) : nil
        self.frameSize = frameSize
    }

    /// The frames after a planned joint that the previous encoder has received when a joint is looked for after some attempts.
    func framesAfterJoint(attempts: Int) -> Int { min((attempts + 1) * step, tail) }

    /// The frames that two encoders receive at least.
    var overlap: Int { lead + framesAfterJoint(attempts: 0) }

    /// The memory size of the frames that are kept during a search.
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
    mutating func add(_ frame: borrowing Frame, number: Int) {
        // An attack must not be within the fade of the earliest segment.
        guard attacks != nil, number % length >= length - searched + attackLead else { return }
        attacks?.add(frame, number: number)
    }

    /// The frames from the start of a segment to an attack: it is after the fade.
    private var attackLead: Int { lead * 9 / 10 }

    /// Where the segment begins whose start is planned with a frame: such that the strongest attack is in its lead, and that its
    /// encoder has the long blocks which the previous one had at its start. Ends the search; without one, it is the planned frame.
    /// `fade` is the number of samples to fade in.
    mutating func takeStart(planned: Int, after previous: EarlyPackets) -> (frame: Int, fade: Int?) {
        guard let attacks else { return (planned, fade) }
        self.attacks = nil
        let start = attacks.strongest.map { ($0 - attackLead) / period * period } ?? planned
        guard let grid else { return (start, fade) }
        // In sound with an edge in each period, encoders go on with short blocks once they have heard an attack.
        guard let shift = grid.shift(previous.times) else { return (start, nil) }
        let aligned = grid.aligned(start, to: previous.start, shift: shift, frameSize: frameSize)
        return (aligned >= planned - searched ? aligned : aligned + grid.step / frameSize, fade)
    }

    /// Ends the search; the next segment begins where it was planned.
    mutating func endSearch() { attacks = nil }

    /// The first frame with which the next segment may begin, if as many frames are known.
    func earliestStart(after frames: Int) -> Int {
        let planned = (max(frames, 1) + length - 1) / length * length
        return attacks == nil && frames > planned - searched ? planned : planned - searched
    }
}
