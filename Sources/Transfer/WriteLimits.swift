import JobSchema
import SlotIPC

/// How much the other child may write for a job: in outputs, their parts and scratch files together.
struct WriteLimits {
    private let maxBytes: Int64
    /// Files that it may write at a time; it cannot have more open.
    private static let maxFiles = 128
    /// How often what it writes is measured.
    static let interval = Duration.milliseconds(100)

    init(_ job: TransferJob, _ policy: TransferPolicy) {
        let (bytes, overflows) = policy.maxOutputBytes.multipliedReportingOverflow(by: Int64(max(1, job.outputs.count)))
        maxBytes = overflows ? .max : bytes
    }

    /// What is wrong with so many bytes, if anything.
    func excess(_ outputs: [OutputSession], _ released: ReleasedFiles) -> String? {
        let bytes = outputs.reduce(released.bytes) { $0 + $1.bytes }
        guard bytes > maxBytes else { return nil }
        return
            "the job has written \(bytes) bytes, scratch files among them, over the limit of \(maxBytes); see RESPOOL_MAX_OUTPUT_BYTES"
    }

    /// Fails where one more file would be too many.
    func checkCount(_ outputs: [OutputSession], _ released: ReleasedFiles) throws(Failure) {
        guard outputs.reduce(released.count, { $0 + $1.writableFiles }) >= Self.maxFiles else { return }
        throw Failure(.tooLarge, "the job writes more than \(Self.maxFiles) files at a time")
    }
}
