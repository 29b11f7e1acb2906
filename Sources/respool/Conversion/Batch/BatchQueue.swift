import Glibc
import JobSchema
import Lifecycle
import Synchronization

/// Hands out the sources of a batch in order, each with its open file.
///
/// It uses a separate thread, because file systems may be slow.
actor BatchQueue {
    private let executor = ThreadExecutor(label: "batch")
    private var rest: ArraySlice<BatchItem>
    private let stopped = Atomic(false)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The next step of a batch.
    enum Step: Sendable {
        /// Convert the source; a local one is open.
        case convert(BatchItem, SourceFile?)
        /// Nothing is to be converted.
        case report(BatchReport)
    }

    /// The open file of a local source, closed when it is released.
    final class SourceFile: Sendable {
        private let file: Descriptor

        init(_ file: consuming Descriptor) { self.file = file }

        /// Borrowed.
        var descriptor: CInt { file.number }
    }

    init(_ items: [BatchItem]) { rest = items[...] }

    /// The next step; `nil` at the end, or after `stop`.
    func next() -> Step? {
        guard !stopped.load(ordering: .acquiring), let item = rest.popFirst() else { return nil }
        if item.spec.deliveries[0].overwrite == .skip, isTaken(item.location) {
            return .report(BatchReport(skipped: item))
        }
        guard let path = item.path else { return .convert(item, nil) }
        // A source that became a pipe meanwhile must not block.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened < 0 else { return .convert(item, SourceFile(Descriptor(owning: opened))) }
        let error = Errno.last
        return .report(
            BatchReport(
                item, .failed,
                error: [ENOENT, ENOTDIR].contains(error.rawValue)
                    ? Failure(.sourceNotFound, "the file '\(path)' does not exist")
                    : Failure(.sourceDenied, "the source '\(path)' cannot be read: \(error)")))
    }

    /// Hands out no more sources; callable from any thread.
    nonisolated func stop() { stopped.store(true, ordering: .releasing) }

    private func isTaken(_ location: String) -> Bool {
        var status = stat()
        return !SourceAddress.isURL(location) && lstat(location, &status) == 0
    }
}
