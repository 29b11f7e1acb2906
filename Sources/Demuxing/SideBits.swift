/// Reads bits, highest first.
package struct SideBits {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The number of the next bit.
    package var position: Int

    /// Begins with the bit of a number.
    package init(bytes: UnsafeBufferPointer<UInt8>, position: Int) { (self.bytes, self.position) = (bytes, position) }

    /// Takes a number of bits.
    package mutating func take(_ count: Int) -> Int {
        defer { position += count }
        return (position..<position + count).reduce(0) { $0 << 1 | Int(bytes[$1 >> 3] >> (7 - UInt8($1 & 7)) & 1) }
    }
}
