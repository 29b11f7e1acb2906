package import JobSchema
package import MediaTypes

/// All data of a job that the queue returns.
package struct JobRecord: Sendable, Hashable {
    package var id: String
    package var state: JobState
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
    package var attempt: Int
    package var attempts: Int
    package var crashes: Int
    package var priority: String
    package var group: String?
    /// Without parts that may be secret.
    package var source: String?
    package var format: String?
    /// `host:pid`
    package var worker: String?
    /// Milliseconds since 1970, like the other times.
    package var createdAt: Int64
    package var startedAt: Int64?
    package var finishedAt: Int64?
    /// When a delayed job may run.
    package var dueAt: Int64?
    /// The progress of each output, if the job is running and has several.
    package var outputProgress: [OutputProgress]?
    package var outputs: [OutputReport]?
    package var error: Failure?
    /// Whether a waiting job waits for a permit of its `limit_key`; not part of the JSON.
    package var isParked: Bool
}
