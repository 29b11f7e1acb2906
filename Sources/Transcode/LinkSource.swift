import Bytes
import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Synchronization

/// The job's source. Only the announced bytes may be read from the descriptor, because holes in the spool read as zeros.
///
/// The outputs of all tracks read it from separate threads.
final class LinkSource: ByteSource {
    let length: Int64
    let isEndless: Bool
    private let descriptor: Descriptor
    private let link: Link
    private let reporter: Reporter
    private let arrived: Mutex<Arrived>

    private struct Arrived {
        var present = ByteRanges()
        /// The furthest offset requested so far. The bytes of an endless stream far behind it have been freed.
        var furthest: Int64 = 0
    }

    init(link: Link, reporter: Reporter) throws {
        var answer = try link.ask(.open)
        let (length, available): (Int64, Int64)
        switch answer.message {
        case .opened(let all, let first): (length, available, isEndless) = (all, first, false)
        case .openedStream(let first): (length, available, isEndless) = (.max, first, true)
        default: throw Failure(.internal, "respool-transfer did not open the source")
        }
        guard let descriptor = answer.descriptor.take() else {
            throw Failure(.internal, "respool-transfer opened a source without its descriptor")
        }
        self.length = length
        self.descriptor = descriptor
        self.link = link
        self.reporter = reporter
        var first = Arrived()
        first.present.insert(0..<available)
        arrived = Mutex(first)
    }

    var isAllPresent: Bool { length == 0 || arrived.withLock { $0.present.end(containing: 0) } == length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        reporter.keepAlive()
        guard offset < length, !buffer.isEmpty else { return 0 }
        let end = try arrived.withLock { try presentEnd(after: offset, &$0) }
        guard end > offset else { return 0 }
        let wanted = Int(min(end - offset, Int64(buffer.count)))
        while true {
            let count = pread(descriptor.number, buffer.baseAddress, wanted, off_t(offset))
            if count > 0 { return count }
            if count < 0 {
                guard errno == EINTR else { throw Failure(.internal, "cannot read the source: \(Errno.last)") }
                continue
            }
            throw Failure(
                .sourceChanged, "the source became shorter while it was read: \(offset) of its \(length) bytes are left"
            )
        }
    }

    private func presentEnd(after offset: Int64, _ arrived: inout Arrived) throws -> Int64 {
        // The file contains zeros there, which a decoder could not distinguish from audio.
        guard !isEndless || offset >= arrived.furthest - LinkRequest.keptBehind else {
            throw Failure(
                .internal, "byte \(offset) of a stream was read at \(arrived.furthest), after it was discarded")
        }
        if let end = arrived.present.end(containing: offset) { return end }
        arrived.furthest = max(arrived.furthest, offset)
        let answer = try link.ask(.need(offset: offset))
        guard case .have(let start, let size) = answer.message, start <= offset,
            offset < start + size || isEndless && size == 0
        else {
            throw Failure(.internal, "respool-transfer announced other bytes than were requested")
        }
        arrived.present.insert(start..<(start + size))
        return start + size
    }

    func takeTitles() -> [StreamTitle] {
        guard isEndless, let answer = try? link.ask(.titles), case .titles(let titles) = answer.message else {
            return []
        }
        return titles
    }
}
