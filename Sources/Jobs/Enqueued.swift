/// The result of pushing one job.
package struct Enqueued: Sendable, Hashable {
    /// The id of the new job, or of the first one if this is a duplicate.
    package let id: String
    /// Whether a job with the same `dedup` key already existed; the id is that job's.
    package let isDuplicate: Bool
}
