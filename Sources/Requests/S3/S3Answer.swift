/// An XML response of S3, from which only the text of some elements is read.
package struct S3Answer {
    private let text: String

    package init(_ bytes: [UInt8]) { text = String(decoding: bytes, as: UTF8.self) }

    private init(text: String) { self.text = text }

    /// The contents of all elements with that name.
    package func all(_ name: String) -> [S3Answer] {
        text.split(separator: "<\(name)>").dropFirst().map { rest in
            S3Answer(text: String(rest.firstRange(of: "</\(name)>").map { rest[..<$0.lowerBound] } ?? rest))
        }
    }

    /// The text of the first element with that name.
    package subscript(name: String) -> String? {
        guard let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        let entities = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"), ("&amp;", "&"),
        ]
        return entities.reduce(String(text[start.upperBound..<end.lowerBound])) { $0.replacing($1.0, with: $1.1) }
    }
}
