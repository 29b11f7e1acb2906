package import Bytes

/// Reads the blocks of a Matroska or WebM file with a single track by their headers (RFC 9559).
package struct MatroskaWalk: ~Copyable {
    /// The clusters that contain blocks, in file order.
    package private(set) var clusters: [Cluster] = []
    private var window: SourceWindow
    private var samples: Int64 = 0

    /// A cluster that contains blocks.
    package struct Cluster {
        /// The offset of its first block.
        package let offset: Int64
        /// Samples of all blocks before it.
        package let samples: Int64
        /// Its timestamp in the segment's units.
        package let time: Int64
    }

    /// Returns the samples of a frame from its first bytes; `nil` if they cannot be determined.
    package typealias FrameLength = (UnsafeBufferPointer<UInt8>) -> Int?

    /// Reads clusters until more than `most` samples are passed; `nil` if a part of the file is not understood.
    package init?(_ source: any ByteSource, atMost most: Int64, length: FrameLength) throws {
        window = SourceWindow(source)
        guard let header = try element(at: 0), header.id == 0x1A45_DFA3,
            header.end < source.length,
            let segment = try element(at: header.end), segment.id == 0x1853_8067
        else { return nil }
        var offset = segment.body
        while samples <= most, offset < min(segment.end, source.length) {
            guard let next = try element(at: offset) else { return nil }
            if next.id == 0x1F43_B675 {
                guard next.end != .max, try walk(cluster: next, length) else { return nil }
            }
            guard next.end != .max else { return nil }
            offset = next.end
        }
    }

    private mutating func walk(cluster: Element, _ length: FrameLength) throws -> Bool {
        var offset = cluster.body
        var isFirst = true
        var time: Int64 = 0
        while offset < cluster.end {
            guard let next = try element(at: offset), next.end <= cluster.end else { return false }
            // A block group is entered to find its block.
            offset = next.id == 0xA0 ? next.body : next.end
            if next.id == 0xE7 {
                let value = try window.bytes(at: next.body, atLeast: 8).prefix(
                    Int(clamping: min(next.end - next.body, 7)))
                time = value.reduce(0) { $0 << 8 | Int64($1) }
            }
            guard next.id == 0xA3 || next.id == 0xA1 else { continue }
            let bytes = try window.bytes(at: next.body, atLeast: 64)
            guard let number = Self.variable(bytes, at: 0, keepsMark: false) else { return false }
            if isFirst { clusters.append(Cluster(offset: next.body, samples: samples, time: time)) }
            isFirst = false
            guard let count = Self.samples(bytes.prefix(Int(next.end - next.body)), from: number.width, length) else {
                return false
            }
            samples += count
        }
        return true
    }

    /// The samples of a block. Laced frames are as long as the first one.
    private static func samples(
        _ block: Slice<UnsafeBufferPointer<UInt8>>, from width: Int, _ length: FrameLength
    ) -> Int64? {
        let bytes = UnsafeBufferPointer(rebasing: block)
        guard bytes.count > width + 3 else { return nil }
        let frame = UnsafeBufferPointer(rebasing: bytes[(width + 3)...])
        if bytes[width + 2] & 6 == 0 { return length(frame).map(Int64.init) }
        // The lengths of laced frames can only be read one after the other, so only a constant length is supported.
        guard let constant = length(UnsafeBufferPointer(start: nil, count: 0)), let more = frame.first else {
            return nil
        }
        return Int64(constant) * (Int64(more) + 1)
    }

    private struct Element {
        let id: UInt64
        let body: Int64
        /// The offset after it; `Int64.max` if its size is unknown.
        let end: Int64
    }

    private mutating func element(at offset: Int64) throws -> Element? {
        let bytes = try window.bytes(at: offset, atLeast: 12)
        guard let id = Self.variable(bytes, at: 0, keepsMark: true),
            let size = Self.variable(bytes, at: id.width, keepsMark: false)
        else { return nil }
        let body = offset + Int64(id.width + size.width)
        let isOpen = size.value == UInt64(1) << (7 * size.width) - 1
        let end = body.addingReportingOverflow(Int64(clamping: size.value))
        return Element(id: id.value, body: body, end: isOpen || end.overflow ? .max : end.partialValue)
    }

    /// A number of variable width (RFC 8794, section 4).
    private static func variable(
        _ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, keepsMark: Bool
    ) -> (value: UInt64, width: Int)? {
        guard offset < bytes.count, bytes[offset] != 0 else { return nil }
        let width = bytes[offset].leadingZeroBitCount + 1
        guard offset + width <= bytes.count else { return nil }
        let first = keepsMark ? bytes[offset] : bytes[offset] & (0xFF >> UInt8(width))
        return (bytes[offset + 1..<offset + width].reduce(UInt64(first)) { $0 << 8 | UInt64($1) }, width)
    }
}
