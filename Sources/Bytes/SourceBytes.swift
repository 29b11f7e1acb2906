/// Reads single values from a source.
package struct SourceBytes {
    private let source: any ByteSource

    /// Reads nothing yet; each call reads the source again.
    package init(_ source: any ByteSource) { self.source = source }

    /// The number of bytes from an offset to the end.
    package func rest(from offset: Int64) -> Int64 { source.length - offset }

    /// Reads `count` bytes; `nil` if the source ends before.
    package func read(at offset: Int64, _ count: Int) throws -> [UInt8]? {
        guard offset >= 0, offset <= source.length - Int64(count) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let step = try bytes.withUnsafeMutableBytes { buffer in
                try source.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]), at: offset + Int64(done))
            }
            guard step > 0 else { return nil }
            done += step
        }
        return bytes
    }

    /// Reads a big-endian number of `count` bytes.
    package func big(at offset: Int64, _ count: Int) throws -> Int64? {
        try read(at: offset, count).map { Int64(bitPattern: $0.reduce(0) { $0 << 8 | UInt64($1) }) }
    }

    /// Reads a little-endian number of `count` bytes.
    package func little(at offset: Int64, _ count: Int) throws -> Int64? {
        try read(at: offset, count).map { Int64(bitPattern: $0.reversed().reduce(0) { $0 << 8 | UInt64($1) }) }
    }

    /// Reads a number of `count` bytes in either byte order.
    package func number(at offset: Int64, _ count: Int, isBig: Bool) throws -> Int64? {
        try isBig ? big(at: offset, count) : little(at: offset, count)
    }

    /// Whether the source is a WAV file in big-endian byte order.
    package func isRIFX() throws -> Bool { try text(at: 0, 4) == "RIFX" }

    /// Reads `count` bytes as text.
    package func text(at offset: Int64, _ count: Int) throws -> String? {
        try read(at: offset, count).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The offset of the next occurrence of an ASCII text; `nil` if there is none.
    package func find(_ text: String, from start: Int64) throws -> Int64? {
        var offset = max(start, 0)
        while offset < source.length {
            let count = min(source.length - offset, 65_536)
            guard let piece = try read(at: offset, Int(count)) else { return nil }
            if let found = piece.firstRange(of: Array(text.utf8)) { return offset + Int64(found.lowerBound) }
            guard count == 65_536 else { return nil }
            offset += count - Int64(text.utf8.count) + 1
        }
        return nil
    }

    /// The body offset and size of an EBML element; the size is `nil` if it is unknown.
    package func element(at offset: Int64) throws -> (body: Int64, size: Int64?)? {
        guard let first = try read(at: offset, 1)?[0], first != 0 else { return nil }
        let sizeOffset = offset + Int64(first.leadingZeroBitCount) + 1
        guard let mark = try read(at: sizeOffset, 1)?[0], mark != 0 else { return nil }
        let length = mark.leadingZeroBitCount + 1
        guard let raw = try big(at: sizeOffset, length) else { return nil }
        let mask = Int64(1) << (7 * length) - 1
        return (sizeOffset + Int64(length), raw & mask == mask ? nil : raw & mask)
    }
}

extension Int64 {
    /// The sum, saturated at the largest number.
    package func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
