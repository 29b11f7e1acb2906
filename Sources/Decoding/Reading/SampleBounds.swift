import Bytes
import Libav

/// Selects the decoded samples that are the source's audio: those after the encoder delay and before the padding.
struct SampleBounds {
    /// Whether the next frame is the first one after a start in the middle of the source.
    var isLate = false
    /// Whether a frame was decoded.
    private(set) var hasBegun = false
    /// The first decoded sample.
    private(set) var start: Int64 = 0
    /// The end of the returned samples, counted from the source's start.
    private(set) var count: Int64 = 0
    /// The number of samples until the padding; `nil` if the container declares none.
    private(set) var remaining: Int64?
    /// The number of samples to drop before the first audible one.
    private var lead: Int64

    init(_ declared: DeclaredLength) {
        remaining = declared.audible
        lead = declared.lead
    }

    /// Adjusts to a corrected sample rate, before the first sample.
    mutating func correct(_ declared: DeclaredLength) {
        remaining = declared.audible
        lead = declared.lead
    }

    /// Reads a decoded frame. After a late start, the first frame's timestamp is the start.
    mutating func begin(_ frame: borrowing Frame, _ declared: DeclaredLength) {
        hasBegun = true
        guard isLate, let start = frame.timestamp else { return }
        remaining = declared.audible.map { max($0 - start, 0) }
        self.start = start
        count = start
        isLate = false
    }

    /// Removes delay and padding that the container declares and libav does not remove; returns `false` if no samples are left.
    mutating func trim(_ frame: borrowing Frame) throws(MediaError) -> Bool {
        if lead > 0 { lead -= try frame.drop(atMost: lead) }
        if let left = remaining {
            frame.keepFirst(Int(min(Int64(frame.samples), left)))
            remaining = left - Int64(frame.samples)
        }
        count += Int64(frame.samples)
        return frame.samples > 0
    }

    /// Ends the audio at a sample.
    mutating func end(at sample: Int64) { remaining = max(sample - count, 0) }
}
