package import Bytes
import Glibc

/// The header of an Ogg page (RFC 3533 section 6).
package struct OggPage {
    /// The codec's count, usually of samples, up to the end of the page; `nil` if no packet ends on the page.
    package let granule: Int64?
    /// The serial number of its stream.
    package let serial: UInt32
    /// The sequence number in its stream.
    package let number: UInt32
    /// Whether it begins with the rest of a packet.
    package let isContinued: Bool
    /// Whether it is the first page of its stream.
    let isFirst: Bool
    /// Whether no later page of its stream follows, by the page's flag.
    package let isLast: Bool
    /// The lengths of its packets' segments; `nil` if the bytes end before them.
    package let lacing: ArraySlice<UInt8>?

    /// The capture pattern with version 0.
    static let mark: [UInt8] = [0x4F, 0x67, 0x67, 0x53, 0]

    /// The size of the longest header.
    static let maxHeaderBytes = 27 + 255

    /// Reads a header at the start of bytes; `nil` if there is none.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 27, bytes.starts(with: Self.mark) else { return nil }
        let start = bytes.startIndex
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            bytes[(start + offset)..<(start + offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let granule = number(6, 8)
        self.granule = granule == .max ? nil : Int64(bitPattern: granule)
        serial = UInt32(number(14, 4))
        self.number = UInt32(number(18, 4))
        isContinued = bytes[start + 5] & 1 != 0
        (isFirst, isLast) = (bytes[start + 5] & 2 != 0, bytes[start + 5] & 4 != 0)
        let segments = Int(bytes[start + 26])
        lacing = bytes.count >= 27 + segments ? bytes[(start + 27)..<(start + 27 + segments)] : nil
    }

    /// Reads the header at an offset; `nil` if there is none.
    package init?(_ bytes: SourceBytes, at offset: Int64) throws {
        let count = min(bytes.rest(from: offset), Int64(Self.maxHeaderBytes))
        guard count > 0, let head = try bytes.read(at: offset, Int(count)) else { return nil }
        self.init(head[...])
    }

    /// The size of the header; `nil` if unknown.
    package var headerSize: Int? { lacing.map { 27 + $0.count } }
    /// Bytes of the header and of all segments; `nil` if the bytes end before the segments' lengths.
    package var size: Int? { lacing.map { 27 + $0.count + $0.reduce(0) { $0 + Int($1) } } }

    /// The offset of the next capture pattern.
    static func nextMark(_ bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { all in
            var index = start
            while let base = all.baseAddress, all.count - index >= mark.count,
                let found = memchr(base + index, CInt(mark[0]), all.count - index)
            {
                index = base.distance(to: found)
                guard !all[index...].starts(with: mark) else { return index }
                index += 1
            }
            return nil
        }
    }
}
