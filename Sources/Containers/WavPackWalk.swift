package import Bytes

/// The blocks of a WavPack file, from header to header.
package struct WavPackWalk {
    /// Where the block lies that the walk came to.
    package private(set) var offset: Int64
    /// Samples of the blocks passed.
    package private(set) var samples: Int64 = 0

    /// Walks from a block on to the last that begins after no more samples than that, or to one that is out of line.
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

    /// The blocks of one stretch of time, two channels each: the index of its first sample, its samples and its bytes.
    private static func frame(
        _ bytes: SourceBytes, at start: Int64
    ) throws -> (index: Int64, samples: Int64, size: Int64)? {
        var frame: (index: Int64, samples: Int64, size: Int64)?
        while let head = try bytes.read(at: start + (frame?.size ?? 0), 32), head.starts(with: "wvpk".utf8) {
            func little(_ range: Range<Int>) -> Int64 { head[range].reversed().reduce(0) { $0 << 8 | Int64($1) } }
            let (isFirst, isLast) = (head[25] & 0x08 != 0, head[25] & 0x10 != 0)
            let (size, index, samples) = (8 + little(4..<8), little(16..<20), little(20..<24))
            // The versions that libav takes; a block without samples holds only words about others.
            guard (0x402...0x410).contains(little(8..<10)), size >= 32, samples > 0, isFirst == (frame == nil),
                frame.map({ $0.index == index && $0.samples == samples }) ?? true
            else { return nil }
            frame = (index, samples, size + (frame?.size ?? 0))
            if isLast { return bytes.rest(from: start) >= frame!.size ? frame : nil }
        }
        return nil
    }
}
