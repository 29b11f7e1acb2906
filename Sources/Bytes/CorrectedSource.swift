/// A source with some bytes replaced.
package final class CorrectedSource: ByteSource {
    private let source: any ByteSource
    private let corrections: [Int64: UInt8]

    /// Replaces the byte at each offset that is a key of `corrections`.
    package init(_ source: any ByteSource, _ corrections: [Int64: UInt8]) {
        (self.source, self.corrections) = (source, corrections)
    }

    package var length: Int64 { source.length }
    package var isAllPresent: Bool { source.isAllPresent }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = try source.read(into: buffer, at: offset)
        for (place, byte) in corrections where (offset..<offset + Int64(count)).contains(place) {
            buffer[Int(place - offset)] = byte
        }
        return count
    }
}
