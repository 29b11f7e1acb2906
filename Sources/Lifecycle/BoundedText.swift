extension String {
    /// The longest beginning that is not longer and cuts no character.
    package func prefix(utf8Bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { utf8.formIndex(before: &end) }
        return String(self[..<end])
    }

    /// The text of a process that is not trusted: no longer than that, and with nothing in it that ends a line, steers a
    /// terminal or changes the direction of writing.
    package func bounded(utf8Bytes limit: Int) -> String {
        let text = prefix(utf8Bytes: limit)
        let isCut = text.utf8.count < utf8.count
        guard isCut || text.unicodeScalars.contains(where: \.isUnprintable) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where scalar.isUnprintable: result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        // What escaping adds is cut as well.
        return isCut || result.utf8.count > limit ? result.prefix(utf8Bytes: limit) + "…" : result
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, ends a line or a paragraph, or changes the direction of what follows.
    fileprivate var isUnprintable: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
