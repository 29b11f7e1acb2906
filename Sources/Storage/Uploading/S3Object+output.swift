import MediaTypes
import SlotProtocol

extension S3Object {
    /// The object of a name relative to this one's folder.
    func sibling(_ relativeName: String) throws(Failure) -> S3Object {
        let folder = key.lastIndex(of: "/").map { key[...$0] } ?? ""
        return try S3Object("s3://\(bucket)/\(folder)\(relativeName)", noun: "part of the output")
    }

    /// The media type that the key's ending stands for.
    var mediaType: String {
        let ending = key.lastIndex(of: ".").map { key[key.index(after: $0)...].lowercased() } ?? ""
        return AudioFormat.all.first { $0.fileExtension == ending }?.mediaType
            ?? Self.otherTypes[ending] ?? "application/octet-stream"
    }

    private static let otherTypes = [
        "json": "application/json", "vtt": "text/vtt", "png": "image/png", "m3u8": "application/vnd.apple.mpegurl",
        "m4s": "video/iso.segment", "ts": "video/mp2t",
    ]
}
