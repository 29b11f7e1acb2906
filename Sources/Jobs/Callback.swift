/// A delivery of a callback that this sender owns until its claim expires.
package struct Callback: Sendable {
    /// The id of the delivery, the same for all attempts (`webhook-id`).
    package let id: String
    /// Every call about the delivery sends this token.
    package let token: String
    /// The number of the attempt, from 1.
    package let attempt: Int
    /// The job or group that the callback is about.
    package let subject: Subject
    /// `job.completed`, `job.failed`, `job.cancelled` or `group.finished`.
    package let what: String
    /// The receiver's URL, including any secrets.
    package let url: String
    /// When the job or the group ended, in milliseconds since 1970.
    package let at: Int64
    /// When this attempt was claimed, in milliseconds since 1970.
    package let takenAt: Int64
    let content: Content

    /// The job that the callback is about, as it was at its end; `nil` for a group.
    package var job: JobRecord? {
        guard case .job(let record) = content else { return nil }
        return record
    }

    /// The job or the group that a callback is about.
    package enum Subject: Sendable, Hashable {
        case job(String)
        case group(String)
    }

    /// The state of the job or the group when it ended.
    enum Content: Sendable {
        case job(JobRecord)
        case group(GroupRecord)
        /// The stored content can no longer be read.
        case unknown
    }
}

/// The outcome of one attempt to send a callback.
package enum CallbackOutcome: Sendable, Hashable {
    case delivered(status: Int)
    /// Another attempt may succeed.
    case again(String, status: Int?, retryAfter: Double?)
    /// No attempt will succeed.
    case refused(String, status: Int?)
    /// The sender's host could not send it; that is no attempt.
    case released(String)
}

/// The state of a callback after an attempt.
package enum FinishCallbackAnswer: Sendable, Hashable {
    case delivered, failed
    /// The callback is retried at that time, in milliseconds since 1970.
    case waiting(until: Int64)
    /// This sender no longer owns the callback; nothing was changed.
    case stale
}

/// The result of a request to send a callback again.
package enum RedeliverAnswer: String, Sendable {
    case due, sending, unknown
    /// The content of the callback was never stored.
    case lost
}
