/// The low bytes of a number, least significant first.
package func littleEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

/// The low bytes of a number, most significant first.
package func bigEndian(_ number: UInt64, _ count: Int) -> [UInt8] { littleEndian(number, count).reversed() }
