package import Bytes
import CLibav
package import Libav

/// A queue of samples that can be read in other portions than they were written; owns an `AVAudioFifo`.
package struct SampleFifo: ~Copyable {
    private let pointer: OpaquePointer
    private let shape: SampleShape

    private init(owning pointer: OpaquePointer, _ shape: SampleShape) {
        self.pointer = pointer
        self.shape = shape
    }

    deinit { av_audio_fifo_free(pointer) }

    /// Opens an empty queue with room for `capacity` samples.
    package static func open(_ shape: SampleShape, capacity: Int) throws(MediaError) -> SampleFifo {
        guard let pointer = av_audio_fifo_alloc(shape.format, CInt(shape.channels), CInt(capacity)) else {
            throw .outOfMemory("keep samples")
        }
        return SampleFifo(owning: pointer, shape)
    }

    /// Queued samples of each channel.
    package var count: Int { Int(av_audio_fifo_size(pointer)) }

    /// Appends all samples of a frame.
    package borrowing func append(_ frame: borrowing Frame) throws(MediaError) {
        let planes = UnsafeMutableRawPointer(frame.planes).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        try check(av_audio_fifo_write(pointer, planes, CInt(frame.samples)), "keep samples")
    }

    /// Moves `count` samples into a frame.
    package borrowing func take(_ count: Int, into frame: borrowing Frame) throws(MediaError) {
        try frame.reserve(count, shape)
        let planes = UnsafeMutableRawPointer(frame.planes).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        try check(av_audio_fifo_read(pointer, planes, CInt(count)), "keep samples")
    }
}
