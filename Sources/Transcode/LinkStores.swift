import Bytes
import JobSchema
import SlotIPC
import Synchronization

/// The staged files of a job's outputs.
final class LinkStores: OutputStores {
    private let link: Link
    private let reporter: Reporter
    private let open = Mutex<[Key: LinkStore]>([:])

    private struct Key: Hashable {
        let output: Int
        let part: String?
    }

    init(link: Link, reporter: Reporter) {
        self.link = link
        self.reporter = reporter
    }

    func open(output index: Int, part name: String?) throws -> any RandomAccessOutput {
        let store = LinkStore(output: index, part: name, link: link, reporter: reporter)
        open.withLock { $0[Key(output: index, part: name)] = store }
        return store
    }

    func placeName(output index: Int, part name: String) throws -> String {
        guard let store = open.withLock({ $0[Key(output: index, part: name)] }) else {
            throw Failure(.internal, "the part '\(name)' of output \(index) is not open")
        }
        return try store.placeName
    }

    func finish(output index: Int, part name: String) throws {
        guard let store = open.withLock({ $0.removeValue(forKey: Key(output: index, part: name)) }) else {
            throw Failure(.internal, "the part '\(name)' of output \(index) is completed before it was started")
        }
        store.close()
        try link.send(.finished(output: index, part: name))
    }

    /// Reports to `respool-transfer` whether an output is complete or discarded.
    func end(output index: Int, isComplete: Bool) throws {
        let stores = open.withLock { open in
            let keys = open.keys.filter { $0.output == index }
            return keys.compactMap { open.removeValue(forKey: $0) }
        }
        for store in stores { store.close() }
        try link.send(isComplete ? .finished(output: index, part: nil) : .discard(output: index))
    }
}
