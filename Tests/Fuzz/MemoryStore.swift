import Bytes
import CLinux
import Lifecycle

/// A file that is nowhere but in memory, read and written through its descriptor as those of jobs are.
final class MemoryStore: RandomAccessOutput {
    private let descriptor: Descriptor
    private let store: DescriptorStore

    init(_ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0)) {
        descriptor = Descriptor(owning: clinux_open_unnamed("/dev/shm", 0o600))
        store = DescriptorStore(borrowing: descriptor.number)
        write(bytes, at: 0)
    }

    var source: DescriptorSource { try! DescriptorSource(borrowing: descriptor.number) }

    var length: Int64 {
        get throws { try store.length }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        // As a job's is over its limit: nothing that is so long is worth the time here.
        guard offset + Int64(bytes.count) <= 64 << 20 else { return }
        try? store.write(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try store.read(into: buffer, at: offset)
    }
}

/// The files of one output.
final class MemoryStores: OutputStores {
    func open(output index: Int, part name: String?) -> any RandomAccessOutput { MemoryStore() }
}
