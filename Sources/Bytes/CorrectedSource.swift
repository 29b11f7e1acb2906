/// A source with some bytes replaced.
package final class CorrectedSource: ByteSource {
    private let source: any ByteSource
    /// By offset.
    private let corrections: [(place: Int64, byte: UInt8)]

    /// Replaces the byte at each offset that is a key of `corrections`.
    package init(_ source: any ByteSource, _ corrections: [Int64: UInt8]) {
        self.source = source
        self.corrections = corrections.map { ($0.key, $0.value) }.sorted { $0.place < $1.place }
    }

    package var length: Int64 { source.length }
    package var isAllPresent: Bool { source.isAllPresent }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = try source.read(into: buffer, at: offset)
        let end = offset + Int64(count)
        var index = firstIndex(from: offset)
        while index < corrections.count, corrections[index].place < end {
            buffer[Int(corrections[index].place - offset)] = corrections[index].byte
            index += 1
        }
        return count
    }

    /// The index of the first correction at or behind an offset.
    private func firstIndex(from offset: Int64) -> Int {
        var (low, high) = (0, corrections.count)
        while low < high {
            let middle = (low + high) / 2
            if corrections[middle].place < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
