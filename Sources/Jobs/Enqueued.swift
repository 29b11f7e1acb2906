/// What became of one pushed job.
package struct Enqueued: Sendable, Hashable {
    package let id: String
    /// Whether a job with the same `dedup` key was there already; the id is that job's.
    package let isDuplicate: Bool
}
