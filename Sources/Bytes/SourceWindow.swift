/// A buffered window of a source, which moves forward as it is read.
package struct SourceWindow: ~Copyable {
    private let source: any ByteSource
    private let buffer: UnsafeMutableRawBufferPointer
    private var start: Int64 = 0
    private var filled = 0

    /// Allocates a buffer of `size` bytes; the first call of `bytes` fills it from the source.
    package init(_ source: any ByteSource, size: Int = 1 << 20) {
        self.source = source
        buffer = .allocate(byteCount: size, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// The bytes at an offset, valid until the next call. At least `least` bytes, which fit into the buffer, unless the source ends before.
    package mutating func bytes(at offset: Int64, atLeast least: Int) throws -> UnsafeBufferPointer<UInt8> {
        if offset < start || offset + Int64(least) > start + Int64(filled) {
            (start, filled) = (offset, 0)
            while filled < buffer.count {
                let count = try source.read(into: .init(rebasing: buffer[filled...]), at: start + Int64(filled))
                guard count > 0 else { break }
                filled += count
            }
        }
        return UnsafeBufferPointer(rebasing: buffer.bindMemory(to: UInt8.self)[Int(offset - start)..<filled])
    }
}
