package import SlotProtocol

/// What became of a wish to cancel a job.
package enum CancelAnswer: Sendable, Hashable {
    case cancelled
    /// The job runs, and its worker hears of it with the next beat; or its worker was lost while it published, and the next one
    /// looks for the result first.
    case requested
    /// The job is over (in that state), or its result is just becoming visible (`running`).
    case tooLate(JobState)
    case unknown
}

/// What became of a wish to run a job once more.
package enum RetryAnswer: Sendable, Hashable {
    case retried
    /// Only failed and cancelled jobs can be retried; the job is in that state.
    case wrongState(JobState)
    case unknown
    /// Another job has the `dedup` key.
    case dedupHeld(by: String)
    case invalid(Failure)
}
