import Bytes
import CLibav
import Filters
import Libav

/// Splits samples into portions of an encoder's frame size.
struct FramePortions: ~Copyable {
    private let fifo: SampleFifo
    private let shape: SampleShape
    private let size: Int?
    /// The portion that was taken last.
    let portion: Frame

    /// `size` is the samples of each channel in every portion except the last; `nil` if any number is accepted.
    init(_ shape: SampleShape, size: Int?) throws(MediaError) {
        let fifo = try SampleFifo.open(shape, capacity: (size ?? 0) * 2 + 1)
        portion = try Frame()
        self.fifo = fifo
        self.shape = shape
        self.size = size
    }

    /// Whether a frame can be passed on unchanged.
    borrowing func isPortion(_ frame: borrowing Frame) -> Bool {
        size == nil || fifo.count == 0 && frame.samples == size
    }

    borrowing func append(_ frame: borrowing Frame) throws(MediaError) { try fifo.append(frame) }

    /// Appends silence. An encoder without a frame size never needs it.
    borrowing func appendSilence(_ samples: Int) throws(MediaError) {
        guard samples > 0, size != nil else { return }
        try portion.reserve(samples, shape)
        portion.silence(shape)
        try fifo.append(portion)
    }

    /// Takes a whole portion, if there is one.
    borrowing func takeWhole() throws(MediaError) -> Bool {
        guard let size, fifo.count >= size else { return false }
        try fifo.take(size, into: portion)
        return true
    }

    /// Takes the remaining samples as a short last portion, if there are any.
    borrowing func takeRest() throws(MediaError) -> Bool {
        guard fifo.count > 0 else { return false }
        try fifo.take(fifo.count, into: portion)
        return true
    }
}
