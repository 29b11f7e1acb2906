/// The result of a request to cancel a job.
package enum CancelAnswer: Sendable, Hashable {
    case cancelled
    /// The job is running, and its worker is notified with the next beat; or its worker was lost while it published,
    /// and the next owner first checks for the result.
    case requested
    /// The job has ended in that state, or its result is being published (`running`).
    case tooLate(JobState)
    case unknown
}
