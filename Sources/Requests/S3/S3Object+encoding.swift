package import JobSchema
import Text

extension S3Object {
    /// The object with a name relative to this object's folder.
    package func sibling(_ relativeName: String) throws(Failure) -> S3Object {
        let folder = key.lastIndex(of: "/").map { key[...$0] } ?? ""
        return try S3Object("s3://\(bucket)/\(folder)\(relativeName)", noun: "part of the output")
    }

    /// The percent-encoded URL, against which relative URLs can be resolved.
    var encodedURL: String { "s3://\(bucket)/\(Self.encoded(key))" }

    /// A key encoded for an S3 signature: all characters except unreserved ones and slashes are percent-encoded.
    static func encoded(_ key: String) -> String {
        PercentEncoding.encoded(key) { PercentEncoding.unreserved.contains($0) || $0 == 0x2f }
    }

    /// A query value encoded for an S3 signature; slashes are encoded too.
    package static func encodedValue(_ value: String) -> String {
        PercentEncoding.encoded(value, keeping: PercentEncoding.unreserved.contains)
    }
}
