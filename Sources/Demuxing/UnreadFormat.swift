import Bytes
import CLibav

/// Recognizes what libav does not read and services often get, to name it in an error.
enum UnreadFormat {
    /// The sentence of the error; `nil` if the format is unknown.
    static func sentence(_ source: any ByteSource) throws -> String? {
        let start = try TagBytes.leading(source).end
        let count = min(source.length - start, reach)
        guard count > 4, let bytes = try SourceBytes(source).read(at: start, Int(count)) else { return nil }
        if bytes.starts(with: "ADIF".utf8) { return "the source is AAC in ADIF, which is not supported" }
        if isFreeFormat(bytes) { return "the source is MPEG audio in free format, which is not supported" }
        return textSentence(bytes)
    }

    /// The sentence for a playlist or a page, which a server sends instead of audio.
    private static func textSentence(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes.prefix(textReach), as: UTF8.self).lowercased()
            .drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") {
            return "the source is a web page (HTML), not audio; give the URL of the audio itself as the source"
        }
        let kind: String? =
            if text.hasPrefix("[playlist]") { "pls" } else if text.hasPrefix("<asx") {
                "asx"
            } else if text.hasPrefix("<"),
                text.contains("<playlist"), text.contains("xspf.org")
            {
                "xspf"
            } else if text.hasPrefix("http://")
                || text.hasPrefix("https://")
            { "m3u" } else { nil }
        return kind.map { "the source is a playlist (\($0)) that is not one of HLS; give a URL in it as the source" }
    }

    /// The beginning of a text that tells what it is: comments may stand before the first element of XML.
    private static let textReach = 1024

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
