/// The result of a request to change when a job runs.
package enum RescheduleAnswer: Sendable, Hashable {
    case rescheduled
    /// The job is in that state; only waiting and delayed jobs are changed.
    case wrongState(JobState)
    case unknown
}

/// From when on a job may run.
package enum JobStart: Sendable, Hashable {
    /// At once; only delayed jobs are changed.
    case now
    /// From that instant on, in milliseconds since 1970; at once if it has passed.
    case notBefore(Int64)
}
