package import Bytes
package import CLibav
import Libav
package import Lifecycle

/// The I/O context through which libav reads a byte source; owns an `AVIOContext`.
package struct SourceContext: ~Copyable {
    let pointer: UnsafeMutablePointer<AVIOContext>
    private let bridge: Unmanaged<Bridge>

    /// The state of the C callbacks: the source, its position, and the error that C cannot return.
    final class Bridge {
        let source: any ByteSource
        let stop: CancellationFlag
        var position: Int64 = 0
        var failure: (any Error)?

        init(_ source: any ByteSource, _ stop: CancellationFlag) {
            self.source = source
            self.stop = stop
        }
    }

    private init(owning pointer: UnsafeMutablePointer<AVIOContext>, _ bridge: Unmanaged<Bridge>) {
        self.pointer = pointer
        self.bridge = bridge
    }

    /// Opens a context that reads a source. Reads fail once the flag is raised.
    package static func open(_ source: any ByteSource, stop: CancellationFlag) throws(MediaError) -> SourceContext {
        let bridge = Unmanaged.passRetained(Bridge(source, stop))
        guard
            let pointer = UnsafeMutablePointer<AVIOContext>.allocated(
                bufferBytes: bufferSize, opaque: bridge.toOpaque(),
                read: { opaque, buffer, size in readBytes(opaque!, buffer!, size) },
                seek: { opaque, offset, whence in seekBytes(opaque!, offset, whence) })
        else {
            bridge.release()
            throw .outOfMemory("open the source")
        }
        if source.isEndless { pointer.pointee.seekable = 0 }
        return SourceContext(owning: pointer, bridge)
    }

    deinit {
        pointer.free()
        bridge.release()
    }

    /// Takes ownership of a context that `release` returned.
    package init(adopting pointer: UnsafeMutablePointer<AVIOContext>) {
        self.pointer = pointer
        self.bridge = Unmanaged.fromOpaque(pointer.pointee.opaque)
    }

    /// Releases ownership. The receiver of the pointer must adopt it again.
    package consuming func release() -> UnsafeMutablePointer<AVIOContext> {
        let pointer = pointer
        discard self
        return pointer
    }

    /// Discards libav's read-ahead buffer, so that its bytes are read again.
    func reread() {
        let place = position
        pointer.pointee.buf_ptr = pointer.pointee.buffer
        pointer.pointee.buf_end = pointer.pointee.buffer
        avio_seek(pointer, place, SEEK_SET)
    }

    /// The first bytes, before libav reads any; fewer at the end or after a failure.
    func peek(_ count: Int) -> [UInt8] {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            length = max(Int(avio_read(pointer, buffer.baseAddress, CInt(count))), 0)
        }
        // They are still in libav's buffer.
        avio_seek(pointer, 0, SEEK_SET)
        return bytes
    }

    /// The offset of the next byte that libav reads.
    var position: Int64 { avio_seek(pointer, 0, SEEK_CUR) }

    /// The reason why a callback failed: a raised stop flag, or the source's error.
    package func failure(_ operation: String) -> MediaError? {
        bridge._withUnsafeGuaranteedRef { bridge in
            if bridge.stop.isRaised { return .stopped }
            return bridge.failure.map { .unreadable($0, operation) }
        }
    }
}

private let bufferSize = 64 << 10

private func readBytes(_ opaque: UnsafeMutableRawPointer, _ buffer: UnsafeMutablePointer<UInt8>, _ size: CInt) -> CInt {
    let bridge = Unmanaged<SourceContext.Bridge>.fromOpaque(opaque).takeUnretainedValue()
    guard !bridge.stop.isRaised else { return av_swift_error_exit }
    // After a failure all reads fail, so that no demuxer takes the gap for the end.
    guard bridge.failure == nil else { return av_swift_error(5) }
    do {
        let count = try bridge.source.read(
            into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)), at: bridge.position)
        bridge.position += Int64(count)
        return count == 0 ? av_swift_error_eof : CInt(count)
    } catch {
        bridge.failure = error
        return av_swift_error(5)
    }
}

private func seekBytes(_ opaque: UnsafeMutableRawPointer, _ offset: Int64, _ whence: CInt) -> Int64 {
    let bridge = Unmanaged<SourceContext.Bridge>.fromOpaque(opaque).takeUnretainedValue()
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return bridge.source.isEndless ? Int64(av_swift_error(38)) : bridge.source.length
    case SEEK_SET: bridge.position = offset
    case SEEK_CUR: bridge.position += offset
    case SEEK_END: bridge.position = bridge.source.length + offset
    default: return Int64(av_swift_error(22))
    }
    return bridge.position
}
