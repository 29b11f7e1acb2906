/// What became of a request to cancel a job.
package enum CancelAnswer: Sendable, Hashable {
    case cancelled
    /// The job runs, and its worker hears of it with the next beat; or its worker was lost while it published, and the next one
    /// looks for the result first.
    case requested
    /// The job is over (in that state), or its result is just becoming visible (`running`).
    case tooLate(JobState)
    case unknown
}
