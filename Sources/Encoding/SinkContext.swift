package import Bytes
package import CLibav
import Libav
package import Lifecycle

/// The I/O context through which libav writes an output; owns an `AVIOContext`.
package struct SinkContext: ~Copyable {
    /// libav's I/O context, valid during the lifetime of this value.
    package let pointer: UnsafeMutablePointer<AVIOContext>
    private let bridge: Unmanaged<Bridge>

    /// The state of the C callbacks: the output, its position, and the error that C cannot return.
    final class Bridge {
        let store: any RandomAccessOutput
        let stop: CancellationFlag
        /// The maximum file size that the container's sizes allow.
        let maxBytes: Int64
        var position: Int64 = 0
        var failure: MediaError?

        init(_ store: any RandomAccessOutput, _ stop: CancellationFlag, maxBytes: Int64) {
            self.store = store
            self.stop = stop
            self.maxBytes = maxBytes
        }
    }

    private init(owning pointer: UnsafeMutablePointer<AVIOContext>, _ bridge: Unmanaged<Bridge>) {
        self.pointer = pointer
        self.bridge = bridge
    }

    /// Opens a context that writes an output of up to `maxBytes` bytes.
    package static func open(_ store: any RandomAccessOutput, stop: CancellationFlag, maxBytes: Int64)
        throws(MediaError) -> SinkContext
    {
        let bridge = Unmanaged.passRetained(Bridge(store, stop, maxBytes: maxBytes))
        guard
            let pointer = UnsafeMutablePointer<AVIOContext>.allocated(
                bufferBytes: bufferSize, opaque: bridge.toOpaque(),
                write: { opaque, buffer, size in writeBytes(opaque!, buffer!, size) },
                seek: { opaque, offset, whence in seekBytes(opaque!, offset, whence) })
        else {
            bridge.release()
            throw .outOfMemory("open the output")
        }
        // Otherwise libav writes each packet separately.
        pointer.pointee.min_packet_size = CInt(bufferSize)
        return SinkContext(owning: pointer, bridge)
    }

    deinit {
        pointer.free()
        bridge.release()
    }

    /// The bridge, unretained, for the format context's callbacks.
    var opaque: UnsafeMutableRawPointer { bridge.toOpaque() }

    /// The reason why a callback failed: a raised stop flag, the output's error, or a file that is too large.
    package var failure: MediaError? {
        bridge._withUnsafeGuaranteedRef { $0.stop.isRaised ? .stopped : $0.failure }
    }
}

private let bufferSize = 256 << 10

private func writeBytes(_ opaque: UnsafeMutableRawPointer, _ buffer: UnsafePointer<UInt8>, _ size: CInt) -> CInt {
    let bridge = Unmanaged<SinkContext.Bridge>.fromOpaque(opaque).takeUnretainedValue()
    guard !bridge.stop.isRaised else { return av_swift_error_exit }
    guard bridge.failure == nil else { return av_swift_error(5) }
    guard bridge.position + Int64(size) <= bridge.maxBytes else {
        bridge.failure = MediaError(
            .invalidSettings, "write the output",
            "the result is larger than \(bridge.maxBytes) bytes, the limit of the format; use caf, wav or flac")
        return av_swift_error(27)
    }
    do {
        try bridge.store.write(UnsafeRawBufferPointer(start: buffer, count: Int(size)), at: bridge.position)
        bridge.position += Int64(size)
        return size
    } catch {
        bridge.failure = MediaError(.store(error), "write the output", "the output could not be written: \(error)")
        return av_swift_error(5)
    }
}

private func seekBytes(_ opaque: UnsafeMutableRawPointer, _ offset: Int64, _ whence: CInt) -> Int64 {
    let bridge = Unmanaged<SinkContext.Bridge>.fromOpaque(opaque).takeUnretainedValue()
    do {
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return try bridge.store.measuredLength()
        case SEEK_SET: bridge.position = offset
        case SEEK_CUR: bridge.position += offset
        case SEEK_END: bridge.position = try bridge.store.measuredLength() + offset
        default: return Int64(av_swift_error(22))
        }
        return bridge.position
    } catch {
        bridge.failure = error
        return Int64(av_swift_error(5))
    }
}
