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
        let staged = try staged()
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

    private func staged() throws -> Staged {
        try state.withLock { state in
            switch state {
            case .open(let staged): return staged
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
