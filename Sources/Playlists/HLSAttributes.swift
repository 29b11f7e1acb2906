/// The attribute list of a playlist's tag: `BANDWIDTH=128000,CODECS="mp4a.40.2"` (RFC 8216 section 4.2).
package struct HLSAttributes {
    private var values: [String: String] = [:]

    /// The maximum number of attributes that are parsed; no tag has more.
    private static let maxAttributes = 100

    /// Parses the text after the colon of a tag.
    package init(_ text: Substring) {
        var rest = text
        for _ in 0..<Self.maxAttributes {
            guard let equals = rest.firstIndex(of: "=") else { break }
            let name = rest[..<equals].drop { $0 == " " || $0 == "," }
            rest = rest[rest.index(after: equals)...]
            if rest.first == "\"" {
                let value = rest.dropFirst().prefix { $0 != "\"" }
                values[String(name)] = String(value)
                rest = rest[value.endIndex...].dropFirst()
            } else {
                let value = rest.prefix { $0 != "," }
                values[String(name)] = String(value)
                rest = rest[value.endIndex...]
            }
            rest = rest.drop { $0 != "," }.dropFirst()
        }
    }

    /// The value of an attribute without quotes; `nil` if the tag has no such attribute.
    package subscript(name: String) -> String? { values[name] }
}

extension HLSAttributes {
    /// The bytes of a hexadecimal sequence `0x…` of at most that length, padded with leading zeros.
    func bytes(_ name: String, count: Int) -> [UInt8]? {
        guard let text = self[name], text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
        let digits = text.dropFirst(2).compactMap(\.hexDigitValue)
        guard !digits.isEmpty, digits.count == text.count - 2, digits.count <= count * 2 else { return nil }
        let whole = [Int](repeating: 0, count: count * 2 - digits.count) + digits
        return stride(from: 0, to: whole.count, by: 2).map { (high: Int) -> UInt8 in
            UInt8(whole[high] << 4 | whole[high + 1])
        }
    }
}
