package import Bytes

/// A file that is written sequentially, except for bytes that are filled in later.
package final class AppendedFile {
    private let store: any RandomAccessOutput
    @usableFromInline var bytes: [UInt8] = []
    private var written: Int64 = 0
    @usableFromInline static let block = 1 << 16

    /// Appends from the start of the store.
    package init(_ store: any RandomAccessOutput) { self.store = store }

    /// Bytes appended so far, including those that are not written to the store yet.
    package var length: Int64 { written + Int64(bytes.count) }

    /// Appends bytes.
    @inlinable package func append(_ more: some Sequence<UInt8>) throws(MediaError) {
        bytes.append(contentsOf: more)
        if bytes.count >= Self.block { try flush() }
    }

    /// Overwrites bytes at an offset.
    package func replace(at offset: Int64, _ other: [UInt8]) throws(MediaError) {
        try flush()
        try write(other, at: offset)
    }

    /// Writes the buffered bytes.
    package func flush() throws(MediaError) {
        guard !bytes.isEmpty else { return }
        try write(bytes, at: written)
        written += Int64(bytes.count)
        bytes.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8], at offset: Int64) throws(MediaError) {
        do { try bytes.withUnsafeBytes { try store.write($0, at: offset) } } catch {
            throw MediaError(.store(error), "write the output", "the output could not be written: \(error)")
        }
    }
}
