package import CLibav

/// Allocates and frees I/O contexts of libav with their buffers.
extension UnsafeMutablePointer<AVIOContext> {
    /// A C callback that reads bytes.
    package typealias Read = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, CInt) -> CInt
    /// A C callback that writes bytes.
    package typealias Write = @convention(c) (UnsafeMutableRawPointer?, av_swift_written_bytes?, CInt) -> CInt
    /// A C callback that changes the position, or returns the size for `AVSEEK_SIZE`.
    package typealias Seek = @convention(c) (UnsafeMutableRawPointer?, Int64, CInt) -> Int64

    /// Allocates a context whose callbacks receive `opaque` (`avio_alloc_context`); `nil` if memory is exhausted.
    package static func allocated(
        bufferBytes: Int, opaque: UnsafeMutableRawPointer, read: Read? = nil, write: Write? = nil, seek: Seek
    ) -> Self? {
        guard let buffer = av_malloc(bufferBytes) else { return nil }
        let bytes = buffer.assumingMemoryBound(to: UInt8.self)
        guard
            let pointer = avio_alloc_context(
                bytes, CInt(bufferBytes), write == nil ? 0 : 1, opaque, read, write, seek)
        else {
            av_free(buffer)
            return nil
        }
        return pointer
    }

    /// Frees the context and its buffer (`avio_context_free`).
    package func free() {
        // libav may have replaced the buffer, so its current one is freed.
        av_freep(&pointee.buffer)
        var pointer: Self? = self
        avio_context_free(&pointer)
    }
}
