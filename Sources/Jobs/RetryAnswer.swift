package import JobSchema

/// The result of a request to retry a job.
package enum RetryAnswer: Sendable, Hashable {
    case retried
    /// Only failed and cancelled jobs can be retried; the job is in that state.
    case wrongState(JobState)
    case unknown
    /// Another job holds the `dedup` key.
    case dedupHeld(by: String)
    case invalid(Failure)
}
