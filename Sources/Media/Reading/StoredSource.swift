/// A store as a source.
final class StoredSource: ByteSource {
    private let store: any ByteStore

    init(_ store: any ByteStore) { self.store = store }

    var length: Int64 { (try? store.length) ?? 0 }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try store.read(into: buffer, at: offset)
    }
}
