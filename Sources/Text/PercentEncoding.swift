/// Percent-encoding of RFC 3986 section 2.1.
package enum PercentEncoding {
    /// The text with each byte that is not kept as an escape such as `%41`.
    package static func encoded(_ text: some StringProtocol, keeping isPlain: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += "%\([byte].hexadecimal.uppercased())".utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A path with its slashes, percent-encoded except for the characters that RFC 3986 section 3.3 allows in one.
    package static func encoded(path: some StringProtocol) -> String { encoded(path, keeping: pathBytes.contains) }

    private static let pathBytes = unreserved.union("!$&'()*+,;=:@/".utf8)

    /// The characters that need no encoding in any part of a URL (RFC 3986 section 2.3).
    package static let unreserved = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)

    /// The text with each escape decoded; `nil` if an escape is incomplete or the result is not UTF-8.
    package static func decoded(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit) else { return nil }
            guard let low = rest.popFirst().flatMap(digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
