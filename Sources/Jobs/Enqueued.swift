/// The result of pushing one job.
package struct Enqueued: Sendable, Hashable {
    package let id: String
    /// Whether a job with the same `dedup` key already existed; the id is that job's.
    package let isDuplicate: Bool
}
