import FoundationEssentials
import JobSchema
import Lifecycle

/// What is stored about an upload beside its bytes.
struct UploadRecord: Codable, Sendable {
    /// The name of the token that made it, and that alone may use it.
    let owner: String
    /// The name that the client gave; it is never part of a path.
    var filename: String?
    /// The number of bytes of the whole file; `nil` while a single request sends it.
    var length: Int64?
}

/// An upload as it lies on the disk.
struct Upload: Sendable {
    let id: String
    let record: UploadRecord
    /// The number of bytes that have arrived.
    let offset: Int64
    /// Milliseconds since 1970.
    let expires: Int64

    var isComplete: Bool { record.length == offset }
}

/// The JSON form of an upload.
struct UploadReport: Encodable {
    let id: String
    @Nullable var filename: String?
    @Nullable var length: Int64?
    let offset: Int64
    let complete: Bool
    let expires: String
    /// What a job gives as its source.
    let source: String

    init(_ upload: Upload) {
        id = upload.id
        filename = upload.record.filename
        length = upload.record.length
        offset = upload.offset
        complete = upload.isComplete
        expires = WallClock.timestamp(milliseconds: upload.expires)
        source = "upload:\(upload.id)"
    }
}
