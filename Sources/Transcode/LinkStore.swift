import Lifecycle
import Media
import SlotProtocol

/// The job's output: a staged file that is asked for when the first byte is written.
final class LinkStore: ByteStore {
    private let link: Link
    private let reporter: Reporter
    private var staged: Staged?

    /// The descriptor, and the store that borrows it.
    private final class Staged {
        let descriptor: Descriptor
        let store: DescriptorStore

        init(_ descriptor: consuming Descriptor) {
            store = DescriptorStore(borrowing: descriptor.number)
            self.descriptor = descriptor
        }
    }

    init(link: Link, reporter: Reporter) {
        self.link = link
        self.reporter = reporter
    }

    var length: Int64 {
        get throws { try store().length }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        reporter.keepAlive()
        try store().write(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        reporter.keepAlive()
        return try store().read(into: buffer, at: offset)
    }

    private func store() throws -> DescriptorStore {
        if let staged { return staged.store }
        var answer = try link.ask(.stage)
        guard case .stage = answer.message, let descriptor = answer.descriptor.take() else {
            throw Failure(.internal, "respool-transfer staged an output without its descriptor")
        }
        let staged = Staged(descriptor)
        self.staged = staged
        return staged.store
    }
}
