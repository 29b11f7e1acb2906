package import JobSchema
package import MediaTypes

/// All data of a job that the queue returns.
package struct JobRecord: Sendable, Hashable {
    /// The id under which producers and followers find the job.
    package var id: String
    /// The state in which the job was when it was read.
    package var state: JobState
    /// What a running job does; `nil` in other states.
    package var phase: Phase?
    /// Position divided by duration.
    package var progress: Double?
    /// Converted seconds of the range.
    package var position: Double?
    /// The duration of the range in seconds.
    package var duration: Double?
    /// Seconds of audio per second of real time.
    package var speed: Double?
    /// Whether the progress is an estimate.
    package var estimated: Bool
    /// Estimated seconds until the conversion is complete.
    package var eta: Double?
    /// The number of the current or last attempt, from 1; 0 before the first.
    package var attempt: Int
    /// The number of attempts after which the job fails.
    package var attempts: Int
    /// Lost leases and dead children so far.
    package var crashes: Int
    /// `high`, `normal` or `low`.
    package var priority: String
    /// The group that the job belongs to.
    package var group: String?
    /// Without parts that may be secret.
    package var source: String?
    /// The job's own field `format`.
    package var format: String?
    /// `host:pid`
    package var worker: String?
    /// Milliseconds since 1970, like the other times.
    package var createdAt: Int64
    /// When the current or last attempt began.
    package var startedAt: Int64?
    /// When the job reached a terminal state.
    package var finishedAt: Int64?
    /// When a delayed job may run.
    package var dueAt: Int64?
    /// The progress of each output, if the job is running and has several.
    package var outputProgress: [OutputProgress]?
    /// The reports of a completed job's outputs.
    package var outputs: [OutputReport]?
    /// Why the last attempt failed.
    package var error: Failure?
    /// Whether a waiting job waits for a permit of its `limit_key`; not part of the JSON.
    package var isParked: Bool
}
