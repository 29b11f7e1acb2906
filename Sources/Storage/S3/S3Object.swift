import Lifecycle
package import SlotProtocol

/// An object of a bucket, as `s3://bucket/key` names it; the key is taken as it is written.
package struct S3Object: Hashable, Sendable {
    package let bucket: String
    package let key: String

    /// The URL that people write.
    package var text: String { "s3://\(bucket)/\(key)" }

    init(bucket: String, key: String) {
        self.bucket = bucket
        self.key = key
    }

    /// Takes apart what follows `s3://`; `noun` is what it is, for a sentence.
    package init(_ text: String, noun: String) throws(Failure) {
        let parts = text.dropFirst("s3://".count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let (bucket, key) = (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : "")
        func wrong(_ reason: String) -> Failure {
            Failure(.invalidRequest, "the \(noun) '\(redactedURL(text))' \(reason)")
        }
        guard text.lowercased().hasPrefix("s3://"), KeyName.isValid(bucket), bucket.utf8.count >= 3, !key.isEmpty else {
            throw wrong("is no URL of an object: write s3://bucket/key")
        }
        guard key.utf8.count <= 1024 else { throw wrong("has a key of over 1024 bytes") }
        guard !key.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) else {
            throw wrong("has a key with control characters")
        }
        // A server or a proxy that resolves them would serve another bucket.
        guard !key.split(separator: "/").contains(where: { [".", ".."].contains($0) }) else {
            throw wrong("has a key with a part '.' or '..', which servers understand differently")
        }
        self.init(bucket: bucket, key: key)
    }

    /// The object of a name relative to this one's folder.
    func sibling(_ relativeName: String) throws(Failure) -> S3Object {
        let folder = key.lastIndex(of: "/").map { key[...$0] } ?? ""
        return try S3Object("s3://\(bucket)/\(folder)\(relativeName)", noun: "part of the output")
    }

    /// The URL with what a URL cannot hold percent-encoded, so that a relative one can be resolved against it.
    var encodedURL: String { "s3://\(bucket)/\(Self.encoded(key))" }

    /// A key as signatures of S3 want it: all but unreserved characters and slashes percent-encoded.
    static func encoded(_ key: String) -> String {
        PercentEncoding.encoded(key) { PercentEncoding.unreserved.contains($0) || $0 == 0x2f }
    }

    /// A value of a query likewise, in which slashes are encoded too.
    static func encodedValue(_ value: String) -> String {
        PercentEncoding.encoded(value, keeping: PercentEncoding.unreserved.contains)
    }
}
