package import JobSchema
package import MediaTypes

/// All data of a job that the queue returns.
package struct JobRecord: Sendable, Hashable {
    /// The job's id.
    package var id: String
    /// The state of the job at the time of reading.
    package var state: JobState
    /// The phase of a running job; `nil` in other states.
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
    /// The number of lost leases and crashed child processes so far.
    package var crashes: Int
    /// `high`, `normal` or `low`.
    package var priority: String
    /// The group that the job belongs to.
    package var group: String?
    /// Without parts that may be secret.
    package var source: String?
    /// The output format, or the formats of several outputs.
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
    /// The reports of the outputs, if the job has completed, or if it has failed and some of several outputs were made.
    package var outputs: [OutputReport]?
    /// Why the last attempt failed.
    package var error: Failure?
    /// The trace that the job belongs to, as `traceparent` had it.
    package var traceParent: String?
    /// The key whose limits apply to the job; not part of the JSON.
    package var limitKey: String?
    /// The last attempts that began, the oldest first.
    package var history: [AttemptRecord] = []
    /// Whether a waiting job waits for a permit of its `limit_key`; not part of the JSON.
    package var isParked: Bool
}
