extension String {
    /// The longest prefix within the limit that does not split a character.
    package func prefix(utf8Bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { utf8.formIndex(before: &end) }
        return String(self[..<end])
    }

    /// Text of an untrusted process, cut to the limit, and with everything escaped that ends a line, controls a
    /// terminal or changes the direction of writing.
    package func bounded(utf8Bytes limit: Int) -> String {
        let text = prefix(utf8Bytes: limit)
        let result = PrintableText.escaped(text)
        let isCut = text.utf8.count < utf8.count
        // The text is cut again if the escapes have made it longer than the limit.
        return isCut || result.utf8.count > limit ? result.prefix(utf8Bytes: limit) + "…" : result
    }
}
