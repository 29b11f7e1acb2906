/// An object in a bucket, as in `s3://bucket/key`; the key is used without decoding.
package struct S3Object: Hashable, Sendable {
    /// The name of the bucket.
    package let bucket: String
    /// The key as in the URL, without percent-decoding.
    package let key: String

    /// The URL of the object.
    package var text: String { "s3://\(bucket)/\(key)" }

    /// Parses an `s3://` URL; messages use `noun` for its role and `shown` for its original text.
    package init(_ text: String, noun: String, shown: String? = nil) throws(Failure) {
        let parts = text.dropFirst("s3://".count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let (bucket, key) = (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : "")
        func wrong(_ reason: String) -> Failure {
            Failure(.invalidRequest, "the \(noun) '\(FieldReader.shown(redactedURL(shown ?? text)))' \(reason)")
        }
        guard OutputPath.isObject(text), KeyName.isValid(bucket), bucket.utf8.count >= 3, !key.isEmpty else {
            throw wrong("is not the URL of an object: write s3://bucket/key")
        }
        guard key.utf8.count <= 1024 else { throw wrong("has a key of more than 1024 bytes") }
        guard !key.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) else {
            throw wrong("has a key with control characters")
        }
        // A server or proxy that resolves these components would access another bucket.
        guard !key.split(separator: "/").contains(where: { [".", ".."].contains($0) }) else {
            throw wrong("has a key with a component '.' or '..', which servers interpret differently")
        }
        self.bucket = bucket
        self.key = key
    }
}
