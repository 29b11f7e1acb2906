import Bytes
import JobSchema
import Lifecycle
import SlotIPC
import Synchronization

/// One file of the job's outputs. The staged file is requested when the first byte is written.
final class LinkStore: RandomAccessOutput, Sendable {
    private let output: Int
    private let part: String?
    private let link: Link
    private let reporter: Reporter
    private let state = Mutex(State.new)

    private enum State {
        case new
        case open(Staged)
        /// With a descriptor that is only readable.
        case sealed(Staged)
        case closed
    }

    /// The descriptor, and the store that borrows it.
    private final class Staged: Sendable {
        let descriptor: Descriptor
        let placeName: String

        init(_ descriptor: consuming Descriptor, placeName: String) {
            self.descriptor = descriptor
            self.placeName = placeName
        }

        var store: DescriptorStore { DescriptorStore(borrowing: descriptor.number) }
    }

    init(output: Int, part: String?, link: Link, reporter: Reporter) {
        self.output = output
        self.part = part
        self.link = link
        self.reporter = reporter
    }

    var length: Int64 {
        get throws {
            let staged = try staged()
            return try staged.store.length
        }
    }

    /// The final name of the file, relative to the main file's folder.
    var placeName: String {
        get throws { try staged().placeName }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        reporter.keepAlive()
        let staged = try staged(isWritten: true)
        try staged.store.write(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        reporter.keepAlive()
        let staged = try staged()
        return try staged.store.read(into: buffer, at: offset)
    }

    /// Closes the file. It can no longer be written or read.
    func close() {
        state.withLock { $0 = .closed }
    }

    /// Closes the writable descriptor, so that `respool-transfer` hashes the file and flushes it to the disk while this process
    /// checks it.
    func seal() throws {
        try state.withLock { state in
            guard case .open(let staged) = state else { return }
            let placeName = staged.placeName
            state = .closed
            // The last reference to the descriptor must be gone before the request.
            _ = consume staged
            var answer = try link.ask(.seal(output: output))
            guard case .sealed = answer.message, let descriptor = answer.descriptor.take() else {
                throw Failure(.internal, "respool-transfer sealed an output without a descriptor")
            }
            state = .sealed(Staged(descriptor, placeName: placeName))
        }
    }

    private func staged(isWritten: Bool = false) throws -> Staged {
        try state.withLock { state in
            switch state {
            case .open(let staged): return staged
            case .sealed(let staged) where !isWritten: return staged
            case .sealed: throw Failure(.internal, "output \(output) is written after it was sealed")
            case .closed: throw Failure(.internal, "a file of output \(output) is used after it was completed")
            case .new: break
            }
            var answer = try link.ask(.stage(output: output, part: part))
            guard case .stage(let name) = answer.message, let descriptor = answer.descriptor.take() else {
                throw Failure(.internal, "respool-transfer staged an output without its descriptor")
            }
            let staged = Staged(descriptor, placeName: name)
            state = .open(staged)
            return staged
        }
    }
}
