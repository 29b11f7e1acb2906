/// Reads an output as a source.
package final class StoredSource: ByteSource {
    private let store: any RandomAccessOutput

    /// Follows the store: bytes that are written later can be read as well.
    package init(_ store: any RandomAccessOutput) { self.store = store }

    /// Zero if the store cannot report its length.
    package var length: Int64 { (try? store.length) ?? 0 }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try store.read(into: buffer, at: offset)
    }
}
