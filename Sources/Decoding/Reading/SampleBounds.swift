import Bytes
import Libav

/// Which of the samples that a decoder gives are the source's sound: those behind the encoder's delay and before its padding.
struct SampleBounds {
    /// Whether the next frame is the first after a start that is not the source's.
    var isLate = false
    /// Whether any frame came.
    private(set) var hasBegun = false
    /// The sample that decoding began with.
    private(set) var start: Int64 = 0
    /// Samples of the source up to the last one given.
    private(set) var count: Int64 = 0
    /// The last samples to give where the container holds padding after them.
    private(set) var remaining: Int64?
    /// The samples still to come before the first to be heard.
    private var lead: Int64

    init(_ declared: DeclaredLength) {
        remaining = declared.audible
        lead = declared.lead
    }

    /// Counts in another sample rate from the first sample on.
    mutating func correct(_ declared: DeclaredLength) { remaining = declared.audible }

    /// Takes notice of a decoded frame, the first of which tells where a late start began.
    mutating func begin(_ frame: borrowing Frame, _ declared: DeclaredLength) {
        hasBegun = true
        guard isLate, let start = frame.timestamp else { return }
        remaining = declared.audible.map { max($0 - start, 0) }
        self.start = start
        count = start
        isLate = false
    }

    /// Cuts delay and padding off that the container declares and libav leaves; false if nothing is left.
    mutating func trim(_ frame: borrowing Frame) throws(MediaError) -> Bool {
        if lead > 0 { lead -= try frame.drop(atMost: lead) }
        if let left = remaining {
            frame.keepFirst(Int(min(Int64(frame.samples), left)))
            remaining = left - Int64(frame.samples)
        }
        count += Int64(frame.samples)
        return frame.samples > 0
    }

    /// Ends the sound at a sample.
    mutating func end(at sample: Int64) { remaining = max(sample - count, 0) }
}
