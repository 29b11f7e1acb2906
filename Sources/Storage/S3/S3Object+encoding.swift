import JobSchema
import Text

extension S3Object {
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
