package import Bytes
package import CLibav

/// A function that receives frames of samples one by one.
package typealias FrameBody = (borrowing Frame) throws(MediaError) -> Void

/// Decoded samples of every channel; owns an `AVFrame`.
package struct Frame: ~Copyable {
    /// libav's frame, valid during the lifetime of this value.
    package let pointer: UnsafeMutablePointer<AVFrame>

    /// Makes a frame without samples (`av_frame_alloc`).
    package init() throws(MediaError) {
        guard let pointer = av_frame_alloc() else { throw .outOfMemory("make room for samples") }
        self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVFrame>? = pointer
        av_frame_free(&pointer)
    }

    /// Samples of each channel.
    @inlinable package var samples: Int { Int(pointer.pointee.nb_samples) }

    /// Hz.
    package var rate: Int { Int(pointer.pointee.sample_rate) }

    /// The number of channels.
    package var channels: Int { Int(pointer.pointee.ch_layout.nb_channels) }

    /// The first sample's time in units of the stream's time base; `nil` if it has none.
    package var timestamp: Int64? {
        pointer.pointee.pts == av_swift_no_timestamp ? nil : pointer.pointee.pts
    }

    /// Whether the samples are silence in place of lost audio. Decoders do not reset it, so it is set for each frame.
    package var isLost: Bool {
        get { pointer.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 }
        nonmutating set {
            if newValue {
                pointer.pointee.flags |= AV_FRAME_FLAG_CORRUPT
            } else {
                pointer.pointee.flags &= ~AV_FRAME_FLAG_CORRUPT
            }
        }
    }

    /// One plane for each channel, or one plane for interleaved channels.
    @inlinable package var planes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?> { pointer.pointee.extended_data }

    /// The samples of a channel of planar floats.
    @inlinable package func floats(_ channel: Int) -> UnsafeMutablePointer<Float> {
        UnsafeMutableRawPointer(planes[channel]!).assumingMemoryBound(to: Float.self)
    }

    /// Releases the samples (`av_frame_unref`).
    package borrowing func clear() { av_frame_unref(pointer) }

    /// Moves the samples of another frame here. The other frame is empty afterwards.
    package borrowing func take(_ other: borrowing Frame) {
        av_frame_unref(pointer)
        av_frame_move_ref(pointer, other.pointer)
    }

    /// References another frame's samples (`av_frame_ref`). Shared samples must not be changed.
    package borrowing func share(_ other: borrowing Frame) throws(MediaError) {
        av_frame_unref(pointer)
        try check(av_frame_ref(pointer, other.pointer), "share samples")
    }

    /// The memory size of the samples.
    package var bytes: Int {
        let sampleBytes = Int(av_get_bytes_per_sample(AVSampleFormat(pointer.pointee.format)))
        return samples * sampleBytes * Int(pointer.pointee.ch_layout.nb_channels)
    }

    /// The shape of the samples, with a new copy of the layout.
    package var shape: SampleShape {
        get throws(MediaError) {
            SampleShape(
                format: AVSampleFormat(pointer.pointee.format), rate: Int(pointer.pointee.sample_rate),
                layout: try ChannelLayout(naming: &pointer.pointee.ch_layout))
        }
    }

    /// Whether the samples have the shape. An unspecified layout matches by its channel count.
    package borrowing func has(_ shape: SampleShape) -> Bool {
        guard pointer.pointee.format == shape.format.rawValue, Int(pointer.pointee.sample_rate) == shape.rate else {
            return false
        }
        if pointer.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            return Int(pointer.pointee.ch_layout.nb_channels) == shape.channels
        }
        return shape.layout.equals(&pointer.pointee.ch_layout)
    }

    /// Prepares a writable buffer for samples, and reuses the current one if possible.
    package borrowing func reserve(_ count: Int, _ shape: SampleShape) throws(MediaError) {
        let blockBytes = shape.sampleBytes * (shape.isPlanar ? 1 : shape.channels)
        let fits = pointer.pointee.buf.0 != nil && Int(pointer.pointee.linesize.0) >= count * blockBytes
        if fits && has(shape) && av_frame_is_writable(pointer) > 0 {
            pointer.pointee.nb_samples = CInt(count)
            return
        }
        av_frame_unref(pointer)
        pointer.pointee.format = shape.format.rawValue
        pointer.pointee.sample_rate = CInt(shape.rate)
        pointer.pointee.nb_samples = CInt(count)
        try check(av_channel_layout_copy(&pointer.pointee.ch_layout, shape.layout.pointer), "allocate samples")
        try check(av_frame_get_buffer(pointer, 0), "allocate samples")
    }

    /// Truncates the frame to its first samples.
    package borrowing func keepFirst(_ count: Int) { pointer.pointee.nb_samples = CInt(count) }

    /// Removes samples from the start. The rest is copied to new memory, because encoders rely on its alignment.
    package borrowing func dropFirst(_ count: Int, _ shape: SampleShape) throws(MediaError) {
        let rest = try Frame()
        try rest.reserve(samples - count, shape)
        av_samples_copy(
            rest.planes, planes, 0, CInt(count), CInt(samples - count), CInt(shape.channels), shape.format)
        take(rest)
    }

    /// Removes up to `count` samples from the start; returns the number of removed samples.
    package borrowing func drop(atMost count: Int64) throws(MediaError) -> Int64 {
        let dropped = Int(min(count, Int64(samples)))
        if dropped == samples { keepFirst(0) } else { try dropFirst(dropped, try shape) }
        return Int64(dropped)
    }

    /// Fills all the samples with silence.
    package borrowing func silence(_ shape: SampleShape) {
        av_samples_set_silence(planes, 0, CInt(samples), CInt(shape.channels), shape.format)
    }
}
