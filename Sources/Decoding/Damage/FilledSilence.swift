import Bytes
import CLibav
import Libav

/// Silence that stands for lost sound, and the decoded samples that follow it.
struct FilledSilence: ~Copyable {
    private let held: Frame
    private var isHolding = false
    private var left: Int64 = 0
    private var shape: SampleShape?

    private static let piece: Int64 = 8192

    init() throws(MediaError) { held = try Frame() }

    /// Puts so many samples of silence before a frame, whose samples it takes.
    mutating func precede(_ frame: borrowing Frame, _ count: Int64) throws(MediaError) {
        shape = try frame.shape
        left = count
        held.take(frame)
        isHolding = true
    }

    /// Takes note of the shape that silence behind the last frame would have.
    mutating func follow(_ count: Int64, _ shape: SampleShape) {
        self.shape = shape
        left = count
    }

    /// Gives a piece of the silence, or the samples behind it; false if there are none.
    mutating func next(into frame: borrowing Frame) throws(MediaError) -> Bool {
        if left > 0, let shape {
            let count = min(left, Self.piece)
            left -= count
            // Others may still hold the samples that were given before.
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
