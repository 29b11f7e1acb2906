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
        let result = PrintableText.escaped(text)
        let isCut = text.utf8.count < utf8.count
        // What escaping adds is cut as well.
        return isCut || result.utf8.count > limit ? result.prefix(utf8Bytes: limit) + "…" : result
    }
}
