package import Bytes
import CLibav
package import Libav

/// Samples in waiting, to be taken in other portions than they came; owns an `AVAudioFifo`.
package struct SampleFifo: ~Copyable {
    private let pointer: OpaquePointer
    private let shape: SampleShape

    private init(owning pointer: OpaquePointer, _ shape: SampleShape) {
        self.pointer = pointer
        self.shape = shape
    }

    deinit { av_audio_fifo_free(pointer) }

    /// Makes an empty one with room for that many samples.
    package static func open(_ shape: SampleShape, capacity: Int) throws(MediaError) -> SampleFifo {
        guard let pointer = av_audio_fifo_alloc(shape.format, CInt(shape.channels), CInt(capacity)) else {
            throw .outOfMemory("keep samples")
        }
        return SampleFifo(owning: pointer, shape)
    }

    /// Samples of each channel in waiting.
    package var count: Int { Int(av_audio_fifo_size(pointer)) }

    /// Takes all samples of a frame in.
    package borrowing func append(_ frame: borrowing Frame) throws(MediaError) {
        let planes = UnsafeMutableRawPointer(frame.planes).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        try check(av_audio_fifo_write(pointer, planes, CInt(frame.samples)), "keep samples")
    }

    /// Moves that many samples into a frame.
    package borrowing func take(_ count: Int, into frame: borrowing Frame) throws(MediaError) {
        try frame.reserve(count, shape)
        let planes = UnsafeMutableRawPointer(frame.planes).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        try check(av_audio_fifo_read(pointer, planes, CInt(count)), "keep samples")
    }
}
