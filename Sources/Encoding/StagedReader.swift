import Bytes
import CLibav
import Demuxing

/// Reads an output that is being written, for a muxer that moves its own bytes (`faststart`).
enum StagedReader {
    /// Implements `AVFormatContext.io_open`: only the output itself can be opened, for reading.
    static func open(
        _ context: UnsafeMutablePointer<AVFormatContext>,
        _ answer: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>,
        _ flags: CInt
    ) -> CInt {
        guard let opaque = context.pointee.opaque, flags & AVIO_FLAG_WRITE == 0 else { return av_swift_error(1) }
        let sink = Unmanaged<SinkContext.Bridge>.fromOpaque(opaque).takeUnretainedValue()
        let source = StoredSource(sink.store)
        guard let reader = try? SourceContext.open(source, stop: sink.stop) else { return av_swift_error(12) }
        answer.pointee = reader.release()
        return 0
    }

    /// Implements `AVFormatContext.io_close2`.
    static func close(_ pointer: UnsafeMutablePointer<AVIOContext>) -> CInt {
        let failed = SourceContext(adopting: pointer).failure("read the output back") != nil
        return failed ? av_swift_error(5) : 0
    }
}
