/// The result of a request to delete a job.
package enum RemoveAnswer: Sendable, Hashable {
    case removed
    /// The job is in that state; running jobs are not deleted, nor `queued` ones behind very many others.
    case wrongState(JobState)
    case unknown
}
