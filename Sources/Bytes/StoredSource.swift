/// Reads an output as a source.
package final class StoredSource: ByteSource {
    private let store: any RandomAccessOutput

    package init(_ store: any RandomAccessOutput) { self.store = store }

    package var length: Int64 { (try? store.length) ?? 0 }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try store.read(into: buffer, at: offset)
    }
}
