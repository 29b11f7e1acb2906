import Bytes
import CLibav
import Libav

/// Returns silence in place of lost audio, followed by the held samples.
struct FilledSilence: ~Copyable {
    private let held: Frame
    private var isHolding = false
    private var left: Int64 = 0
    private var shape: SampleShape?

    private static let piece: Int64 = 8192

    init() throws(MediaError) { held = try Frame() }

    /// Inserts silence of `count` samples before a frame, and takes the frame's samples.
    mutating func precede(_ frame: borrowing Frame, _ count: Int64) throws(MediaError) {
        shape = try frame.shape
        left = count
        held.take(frame)
        isHolding = true
    }

    /// Appends silence of `count` samples with the given shape.
    mutating func follow(_ count: Int64, _ shape: SampleShape) {
        self.shape = shape
        left = count
    }

    /// Returns a part of the silence, or the held samples; `false` if there are none.
    mutating func next(into frame: borrowing Frame) throws(MediaError) -> Bool {
        if left > 0, let shape {
            let count = min(left, Self.piece)
            left -= count
            // The samples of the previous call may still be shared.
            frame.clear()
            try frame.reserve(Int(count), shape)
            frame.silence(shape)
            frame.isLost = true
            return true
        }
        guard isHolding else { return false }
        isHolding = false
        frame.take(held)
        return true
    }
}
