package import Bytes

/// Reads the blocks of a WavPack file by their headers.
package struct WavPackWalk {
    /// The offset of the block that was reached.
    package private(set) var offset: Int64
    /// Samples of the blocks before it.
    package private(set) var samples: Int64 = 0

    /// Reads from a block to the last one that begins after at most `most` samples, or to an inconsistent one.
    package init(_ source: any ByteSource, from start: Int64, atMost most: Int64) throws {
        let bytes = SourceBytes(source)
        offset = start
        var (place, passed): (Int64, Int64) = (start, 0)
        var expected: Int64?
        while passed <= most, let frame = try Self.frame(bytes, at: place), expected ?? frame.index == frame.index {
            (offset, samples) = (place, passed)
            place += frame.size
            passed += frame.samples
            expected = frame.index + frame.samples
        }
    }

    /// The blocks of one time range, with two channels each: the index of the first sample, the samples and the bytes.
    private static func frame(
        _ bytes: SourceBytes, at start: Int64
    ) throws -> (index: Int64, samples: Int64, size: Int64)? {
        var frame: (index: Int64, samples: Int64, size: Int64)?
        while let head = try bytes.read(at: start + (frame?.size ?? 0), 32), head.starts(with: "wvpk".utf8) {
            func little(_ range: Range<Int>) -> Int64 { head[range].reversed().reduce(0) { $0 << 8 | Int64($1) } }
            let (isFirst, isLast) = (head[25] & 0x08 != 0, head[25] & 0x10 != 0)
            let (size, index, samples) = (8 + little(4..<8), little(16..<20), little(20..<24))
            // The versions that libav supports. A block without samples contains only metadata.
            guard (0x402...0x410).contains(little(8..<10)), size >= 32, samples > 0, isFirst == (frame == nil),
                frame.map({ $0.index == index && $0.samples == samples }) ?? true
            else { return nil }
            frame = (index, samples, size + (frame?.size ?? 0))
            if isLast { return bytes.rest(from: start) >= frame!.size ? frame : nil }
        }
        return nil
    }
}
