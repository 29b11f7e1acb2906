/// A buffered window of a source, which moves forward as it is read.
package struct SourceWindow: ~Copyable {
    private let source: any ByteSource
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    private var start: Int64 = 0
    private var filled = 0

    /// Allocates the buffer; the first call of `bytes` reads the source.
    package init(_ source: any ByteSource) { self.source = source }

    deinit { buffer.deallocate() }

    /// The bytes at an offset, valid until the next call. At least `least` bytes, unless the source ends before.
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
