/// Makes untrusted text safe for terminals and logs.
package enum PrintableText {
    /// The text with an escape (`\u202e`) for each character that ends a line, controls a terminal or changes the
    /// direction of the text after it.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnprintable) else { return text }
        return escaped(text, where: \.isUnprintable)
    }

    /// Escapes JSON from an encoder, which itself escapes only characters below U+0020.
    package static func escaped(json: String) -> String {
        guard !json.utf8.allSatisfy({ $0 < 0x7f }) else { return json }
        return escaped(json) { $0.value >= 0x7f && $0.isUnprintable }
    }

    /// The escaped text, cut for use in a message.
    package static func shown(_ text: some StringProtocol, atMost count: Int = 100) -> String {
        let scalars = text.unicodeScalars
        let clean = escaped(String(String.UnicodeScalarView(scalars.prefix(count))))
        return scalars.dropFirst(count).isEmpty ? clean : clean + "…"
    }

    private static func escaped(_ text: String, where isEscaped: (Unicode.Scalar) -> Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if isEscaped(scalar) { result += scalar.escape } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character (C0, DEL, C1), a line or paragraph separator, or a control of the writing
    /// direction.
    package var isUnprintable: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// The escape in the format of JSON and most languages: `\u001b`.
    var escape: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits
    }
}
