import JobSchema

/// By what an object is known again: the job that made it, and what it holds.
struct ObjectMark {
    let job: String
    let bytes: Int64
    /// Lowercase hexadecimal.
    let sha256: String

    private static let jobHeader = "x-amz-meta-respool-job"
    private static let sumHeader = "x-amz-meta-sha256"

    /// What the object is sent with.
    var headers: [String] { ["\(Self.jobHeader): \(jobValue)", "\(Self.sumHeader): \(sha256)"] }

    /// Whether the answer to HEAD tells of such an object: an equal one of another job is another's.
    func isOn(_ head: HTTPHead) -> Bool {
        head.contentLength == bytes && head[Self.sumHeader] == sha256 && head[Self.jobHeader] == jobValue
    }

    /// Fit for a header, whatever the id is.
    private var jobValue: String { S3Object.encodedValue(job) }
}
