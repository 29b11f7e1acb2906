import Bytes
import CLibav

/// Recognizes audio formats that libav does not read, to name them in an error.
enum UnreadFormat {
    /// The name of the format; `nil` if it is unknown.
    static func name(_ source: any ByteSource) throws -> String? {
        let start = try TagBytes.leading(source).end
        let count = min(source.length - start, reach)
        guard count > 4, let bytes = try SourceBytes(source).read(at: start, Int(count)) else { return nil }
        if bytes.starts(with: "ADIF".utf8) { return "AAC in ADIF" }
        return isFreeFormat(bytes) ? "MPEG audio in free format" : nil
    }

    /// More than three of the longest frames: 640 kbit/s at 8 kHz take 5,760 bytes.
    private static let reach: Int64 = 20_000

    /// Whether frames without a bit rate follow each other at a constant distance, except for one slot of padding (ISO 11172-3,
    /// 2.4.2.3).
    private static func isFreeFormat(_ bytes: [UInt8]) -> Bool {
        let head = bytes.prefix(4)
        guard head[0] == 0xFF, head[1] & 0xE0 == 0xE0, head[1] & 0x18 != 0x08, head[1] & 0x06 != 0, head[2] & 0xF0 == 0,
            head[2] & 0x0C != 0x0C
        else { return false }
        // Padding is four bytes in layer I, and one byte in the others.
        let slot = head[1] & 0x06 == 0x06 ? 4 : 1
        func isLike(_ place: Int) -> Bool {
            guard place + 4 <= bytes.count else { return false }
            return bytes[place] == 0xFF && bytes[place + 1] & 0xFE == head[1] & 0xFE
                && bytes[place + 2] & 0xFC == head[2] & 0xFC
        }
        return (24..<max(bytes.count / 2, 25)).contains { distance in
            isLike(distance)
                && [0, slot, -slot].contains { isLike(2 * distance + $0) }
        }
    }
}
