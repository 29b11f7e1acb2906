/// A file that is written from its beginning to its end, some bytes of which may be filled in later.
final class AppendedFile {
    private let store: any ByteStore
    private var bytes: [UInt8] = []
    private var written: Int64 = 0
    private static let block = 1 << 16

    init(_ store: any ByteStore) { self.store = store }

    var length: Int64 { written + Int64(bytes.count) }

    func append(_ more: some Sequence<UInt8>) throws(MediaError) {
        bytes.append(contentsOf: more)
        if bytes.count >= Self.block { try flush() }
    }

    /// Puts bytes in the place of others.
    func replace(at offset: Int64, _ other: [UInt8]) throws(MediaError) {
        try flush()
        try write(other, at: offset)
    }

    /// Hands on what is held back.
    func flush() throws(MediaError) {
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
