import JobSchema
import SlotIPC

/// Limits what the transcoder may write for a job: outputs, their parts and scratch files together.
struct WriteLimits {
    private let maxBytes: Int64
    /// Maximum number of files open for writing at a time.
    private static let maxFiles = 128
    /// The interval between measurements.
    static let interval = Duration.milliseconds(100)

    init(_ job: TransferJob, _ policy: TransferPolicy) {
        let (bytes, overflows) = policy.maxOutputBytes.multipliedReportingOverflow(by: Int64(max(1, job.outputs.count)))
        maxBytes = overflows ? .max : bytes
    }

    /// A message if the written bytes exceed the limit; otherwise `nil`.
    func excess(_ outputs: [OutputSession], _ unsealed: UnsealedFiles) -> String? {
        let bytes = outputs.reduce(unsealed.bytes) { $0 + $1.bytes }
        guard bytes > maxBytes else { return nil }
        return
            "the job has written \(bytes) bytes, scratch files among them, over the limit of \(maxBytes); see RESPOOL_MAX_OUTPUT_BYTES"
    }

    /// Fails if one more file would exceed the limit.
    func checkCount(_ outputs: [OutputSession], _ unsealed: UnsealedFiles) throws(Failure) {
        guard outputs.reduce(unsealed.count, { $0 + $1.writableFiles }) >= Self.maxFiles else { return }
        throw Failure(.tooLarge, "the job writes more than \(Self.maxFiles) files at a time")
    }
}
