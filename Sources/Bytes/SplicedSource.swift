package import MediaTypes

/// A source in which ranges are replaced by bytes of any number.
package final class SplicedSource: ByteSource {
    /// What is read from an offset of this source on.
    private struct Piece {
        let start: Int64
        /// The offset in the original source; `nil` for bytes.
        let origin: Int64?
        let bytes: [UInt8]
    }

    private let source: any ByteSource
    private let pieces: [Piece]
    package let length: Int64

    /// Replaces ranges, which are in ascending order and do not overlap.
    package init(_ source: any ByteSource, _ parts: [(range: Range<Int64>, bytes: [UInt8])]) {
        self.source = source
        var (pieces, place, origin): ([Piece], Int64, Int64) = ([], 0, 0)
        for (range, bytes) in parts {
            if range.lowerBound > origin { pieces.append(Piece(start: place, origin: origin, bytes: [])) }
            place += range.lowerBound - origin
            if !bytes.isEmpty { pieces.append(Piece(start: place, origin: nil, bytes: bytes)) }
            place += Int64(bytes.count)
            origin = range.upperBound
        }
        pieces.append(Piece(start: place, origin: origin, bytes: []))
        self.pieces = pieces
        length = place + source.length - origin
    }

    package var isAllPresent: Bool { source.isAllPresent }
    package func takeTitles() -> [StreamTitle] { source.takeTitles() }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard offset >= 0, offset < length, !buffer.isEmpty else { return 0 }
        let index = lastIndex(upTo: offset)
        let (piece, inside) = (pieces[index], offset - pieces[index].start)
        guard let origin = piece.origin else {
            let part = piece.bytes[Int(inside)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
        let end = index + 1 < pieces.count ? pieces[index + 1].start : length
        let count = Int(min(Int64(buffer.count), end - offset))
        return try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: origin + inside)
    }

    /// The index of the piece that an offset is in.
    private func lastIndex(upTo offset: Int64) -> Int {
        var (low, high) = (0, pieces.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if pieces[middle].start <= offset { low = middle } else { high = middle - 1 }
        }
        return low
    }
}
