package import JobSchema
package import MediaTypes

/// Everything that the queue tells about a job.
package struct JobRecord: Sendable, Hashable {
    package var id: String
    package var state: JobState
    package var phase: Phase?
    /// Position ÷ duration.
    package var progress: Double?
    /// Seconds of the range that are converted.
    package var position: Double?
    /// Seconds of the range.
    package var duration: Double?
    /// Seconds of audio a second of time.
    package var speed: Double?
    /// Whether the progress is only a guess.
    package var estimated: Bool
    /// Seconds until the conversion is done.
    package var eta: Double?
    package var attempt: Int
    package var attempts: Int
    package var crashes: Int
    package var priority: String
    package var group: String?
    /// Without what may be a secret.
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
    /// How far each output is, of a running job that has several.
    package var outputProgress: [OutputProgress]?
    package var outputs: [OutputReport]?
    package var error: Failure?
    /// Whether a waiting job waits for a place of its `limit_key`; not part of the JSON.
    package var isParked: Bool
}
