package import Bytes
package import CLibav
import Containers
import Libav

/// The numbers of FLAC frames (RFC 9639, 9.1.5), by which libav seeks. They start anew in joined files.
package enum FlacNumbers {
    /// Whether the frames are numbered from the first to the last one, as far as a few places show: the last frame ends with the
    /// declared number of samples, and the numbers increase.
    package static func areContinuous(
        _ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>
    ) throws -> Bool {
        guard !source.isEndless, let header = FlacHeader(stream), let total = header.samples else { return false }
        let window = max(minWindow, 3 * Int64(header.maxFrameBytes))
        let end = max(source.length - window, 0)
        guard let tail = try frames(source, at: end, window, header).last(where: { $0.upperBound == total }) else {
            return false
        }
        var last: Int64 = -1
        // Of a short source, the last window shows all.
        for place in end > window ? (1..<places).map({ end / places * $0 }) : [] {
            let found = try frames(source, at: place, window, header)
            // Other bytes may look like a header, but not like two consecutive ones.
            let starts = Set(found.map(\.lowerBound))
            guard let frame = found.first(where: { starts.contains($0.upperBound) }), frame.lowerBound > last else {
                return false
            }
            last = frame.lowerBound
        }
        return tail.lowerBound > last
    }

    /// Windows in which numbers are compared, each of which may be a request to a server.
    private static let places: Int64 = 4
    /// Several usual frames.
    private static let minWindow: Int64 = 65_536

    /// The sample ranges of all frames whose header is in a part of the source.
    private static func frames(
        _ source: any ByteSource, at offset: Int64, _ count: Int64, _ header: FlacHeader
    ) throws -> [Range<Int64>] {
        let count = Int(min(count, source.length - offset))
        guard let bytes = try SourceBytes(source).read(at: offset, count) else { return [] }
        return bytes.withUnsafeBufferPointer { bytes in
            bytes.indices.compactMap { place in
                bytes[place] == 0xFF ? range(UnsafeBufferPointer(rebasing: bytes[place...]), header) : nil
            }
        }
    }

    /// The samples of the frame with whose header the bytes begin; `nil` if there is none.
    package static func range(_ bytes: UnsafeBufferPointer<UInt8>, _ header: FlacHeader) -> Range<Int64>? {
        guard bytes.count >= 16, bytes[1] & 0xFE == 0xF8, let size = PacketSamples.flac(bytes) else { return nil }
        // The number has the form of a character in UTF-8, with up to seven bytes.
        let width = max((~bytes[4]).leadingZeroBitCount, 1)
        guard width != 1 || bytes[4] < 0x80, width <= 7 else { return nil }
        let first = Int64(width == 1 ? bytes[4] : bytes[4] & (0x7F >> UInt8(width)))
        let number = bytes[5..<(4 + width)].reduce(first) { $0 << 6 | Int64($1 & 0x3F) }
        let (sizeBytes, rateBytes) = ([6: 1, 7: 2][bytes[2] >> 4] ?? 0, [12: 1, 13: 2, 14: 2][bytes[2] & 15] ?? 0)
        let end = 4 + width + sizeBytes + rateBytes
        guard av_crc(av_crc_get_table(AV_CRC_8_ATM), 0, bytes.baseAddress, end) == bytes[end] else { return nil }
        let start = bytes[1] & 1 == 1 ? number : number * Int64(header.blockSamples)
        return start..<(start + Int64(size))
    }
}
