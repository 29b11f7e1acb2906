import Glibc
import Libav

/// A fade of equal power: a quarter of a sine, from silence to full level or back.
struct Fade {
    /// The fade's length in samples.
    let length: Int64

    /// Fades samples in. `place` is the index of the frame's first sample in the output.
    func raise(_ frame: borrowing Frame, channels: Int, from place: Int64) {
        guard place < length else { return }
        let count = Int(min(Int64(frame.samples), length - place))
        scale(frame, channels, 0..<count) { Double(place + Int64($0)) / Double(length) }
    }

    /// Fades samples out. `place` is the index of the frame's first sample in an output of `total` samples.
    func lower(_ frame: borrowing Frame, channels: Int, from place: Int64, total: Int64) {
        let length = min(length, total)
        let first = max(total - length - place, 0)
        guard first < Int64(frame.samples), length > 0 else { return }
        scale(frame, channels, Int(first)..<frame.samples) {
            Double(max(total - place - Int64($0), 0)) / Double(length)
        }
    }

    private func scale(
        _ frame: borrowing Frame, _ channels: Int, _ range: Range<Int>, _ part: (Int) -> Double
    ) {
        for index in range {
            let factor = Float(sin(.pi / 2 * part(index)))
            for channel in 0..<channels { frame.floats(channel)[index] *= factor }
        }
    }
}
