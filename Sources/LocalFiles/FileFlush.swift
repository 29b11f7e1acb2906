import CLinux
import Glibc
import Lifecycle
import Synchronization

/// Flushes a complete file to the disk on a separate thread. The corresponding C function is `fsync`.
final class FileFlush: Sendable {
    private let error = Monitor<CInt?>(nil)

    init(_ file: SealableFile) {
        // The thread only uses the descriptor, which it keeps open.
        nonisolated(unsafe) let file = file
        let flush: @Sendable () -> Void = { [error] in
            let result = fsync(file.number) == 0 ? 0 : errno
            error.change { $0 = result }
        }
        if !tryStartThread(flush) { flush() }
    }

    /// Waits until the file is on the disk.
    func wait() throws(Errno) {
        let result = error.wait { $0 }
        guard result == 0 else { throw Errno(rawValue: result) }
    }
}

/// Starts to write the bytes of a growing file to the disk, so that the flush at its end has less to do. The corresponding C
/// function is `sync_file_range`.
final class WriteBack: Sendable {
    /// How far the disk was told to write; `nil` while a thread does so, because a busy disk makes it wait.
    private let end = Mutex<Int64?>(0)

    private static let step: Int64 = 8 << 20

    func advance(_ file: SealableFile) {
        let length = file.length
        let start: Int64? = end.withLock { end in
            guard let start = end, length - start >= Self.step else { return nil }
            end = nil
            return start
        }
        guard let start else { return }
        nonisolated(unsafe) let file = file
        _ = tryStartThread { [self] in
            // An error is reported by the flush.
            clinux_start_writing(file.number, start, length - start)
            end.withLock { $0 = length }
        }
    }
}
