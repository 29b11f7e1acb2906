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
        if let known = signatures.first(where: { bytes.starts(with: $0.mark) }) {
            return "the source is \(known.kind), which is not supported"
        }
        if bytes.dropFirst(4).starts(with: "ftyp".utf8),
            let picture = pictures.first(where: { bytes.dropFirst(8).starts(with: $0.brand.utf8) })
        {
            return "the source is a picture (\(picture.kind)), not audio"
        }
        if isFreeFormat(bytes) { return "the source is MPEG audio in free format, which is not supported" }
        return textSentence(bytes)
    }

    /// The first bytes of files that are sent instead of audio, and of audio that libav does not recognize.
    private static let signatures: [(mark: [UInt8], kind: String)] = [
        (Array("PK\u{3}\u{4}".utf8), "a ZIP archive"), ([0x1F, 0x8B, 8], "compressed with gzip"),
        (Array("BZh".utf8), "compressed with bzip2"), ([0xFD] + Array("7zXZ\0".utf8), "compressed with xz"),
        ([0x28, 0xB5, 0x2F, 0xFD], "compressed with Zstandard"),
        (Array("7z".utf8) + [0xBC, 0xAF, 0x27, 0x1C], "a 7z archive"), (Array("Rar!\u{1A}".utf8), "a RAR archive"),
        (Array("%PDF-".utf8), "a PDF document"), (Array("MThd\0\0\0\u{6}".utf8), "MIDI"),
        (Array("OFR ".utf8), "OptimFROG"), (Array("LA0".utf8), "Lossless Audio (LA)"), (Array("MS_VOICE".utf8), "DVF"),
        (Array("#!AMR-WB+".utf8), "AMR-WB+"), (Array("#!EVS".utf8), "EVS"), (Array("#!SILK".utf8), "SILK"),
        (Array("\u{2}#!SILK".utf8), "SILK"),
    ]

    /// The brands of pictures in an ISO base media file (ISO 23008-12, 10.2; AVIF 1.1, section 8).
    private static let pictures: [(brand: String, kind: String)] = [
        ("heic", "HEIF"), ("heix", "HEIF"), ("heim", "HEIF"), ("heis", "HEIF"), ("mif1", "HEIF"),
        ("avif", "AVIF"), ("avis", "AVIF"),
    ]

    /// Whether the first bytes are samples of 16 bits of two equal channels, in each block of which libav sees the equal fields of a
    /// codec.
    static func isSamples(_ source: any ByteSource) throws -> Bool {
        let count = Int(min(source.length, reach)) & ~3
        guard !source.isEndless, let bytes = try SourceBytes(source).read(at: 0, count) else { return false }
        let places = stride(from: 0, to: count, by: 4)
        return places.allSatisfy { bytes[$0] == bytes[$0 + 2] && bytes[$0 + 1] == bytes[$0 + 3] }
            && places.contains { $0 % 32 > 0 && (bytes[$0] > 0 || bytes[$0 + 1] > 0) }
    }

    /// Whether the first bytes are text in UTF-8, of which the last character may be cut.
    static func isText(_ source: any ByteSource) throws -> Bool {
        let count = Int(min(source.length, Int64(textReach)))
        guard let bytes = try SourceBytes(source).read(at: 0, count) else { return false }
        let isPrintable = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (9...13).contains($0) }
        return isPrintable && (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }

    /// The sentence for a playlist or a page, which a server sends instead of audio.
    private static func textSentence(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes.prefix(textReach), as: UTF8.self).lowercased()
            .drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") {
            return "the source is a web page (HTML), not audio; give the URL of the audio itself as the source"
        }
        if text.hasPrefix("{\"") || text.hasPrefix("[{\"") {
            return "the source is JSON, not audio; give the URL of the audio itself as the source"
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
