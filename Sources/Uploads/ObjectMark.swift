import JobSchema
import Requests

/// Identifies an object of respool by the job that produced it and by its contents.
struct ObjectMark {
    let job: String
    let bytes: Int64
    /// Lowercase hexadecimal.
    let sha256: String

    private static let jobHeader = "x-amz-meta-respool-job"
    private static let sumHeader = "x-amz-meta-sha256"

    /// The metadata headers of the object's upload.
    var headers: [String] { ["\(Self.jobHeader): \(jobValue)", "\(Self.sumHeader): \(sha256)"] }

    /// Whether the response to HEAD has this mark. An equal object of another job does not match.
    func isOn(_ head: HTTPHead) -> Bool {
        head.contentLength == bytes && head[Self.sumHeader] == sha256 && head[Self.jobHeader] == jobValue
    }

    /// The job id, encoded for a header.
    private var jobValue: String { S3Object.encodedValue(job) }
}
