import Bytes
import CLibav
import Demuxing

/// A second look at a store that is being written, for a muxer that moves its own bytes (`faststart`).
enum StagedReader {
    /// Answers `AVFormatContext.io_open`: nothing but reading the output itself.
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

    /// Answers `AVFormatContext.io_close2`.
    static func close(_ pointer: UnsafeMutablePointer<AVIOContext>) -> CInt {
        let failed = SourceContext(adopting: pointer).failure("read the output back") != nil
        return failed ? av_swift_error(5) : 0
    }
}
