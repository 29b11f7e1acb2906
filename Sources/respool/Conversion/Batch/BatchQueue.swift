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
        case report(BatchItem, BatchReport)
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
            return .report(item, BatchReport(skipped: item))
        }
        guard let path = item.path else { return .convert(item, nil) }
        // A source that became a pipe meanwhile must not block.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let error = Errno.last
        guard opened >= 0 else {
            let failure =
                [ENOENT, ENOTDIR].contains(error.rawValue)
                ? Failure(.sourceNotFound, "the file '\(path)' does not exist")
                : Failure(.sourceDenied, "the source '\(path)' cannot be read: \(error)")
            return .report(item, BatchReport(item, .failed, error: failure))
        }
        let file = Descriptor(owning: opened)
        var status = stat()
        if item.isUncertain, fstat(opened, &status) == 0, status.st_size == 0 {
            return .report(item, BatchReport(item, .ignored, error: Failure(.corruptMedia, "the source is empty")))
        }
        return .convert(item, SourceFile(file))
    }

    /// Takes in the end of a source. The next one with the same location has its turn if there is no result, otherwise they are
    /// reported.
    func ended(_ item: BatchItem, _ state: BatchReport.State) -> [BatchReport] {
        guard state != .completed else {
            return item.others.map {
                BatchReport($0, locatedAt: "the output of '\(SourceAddress.shown(item.source))'")
            }
        }
        guard var next = item.others.first else { return [] }
        next.others = Array(item.others.dropFirst())
        rest.insert(next, at: rest.startIndex)
        return []
    }

    /// Hands out no more sources; callable from any thread.
    nonisolated func stop() { stopped.store(true, ordering: .releasing) }

    private func isTaken(_ location: String) -> Bool {
        var status = stat()
        return !SourceAddress.isURL(location) && lstat(location, &status) == 0
    }
}
