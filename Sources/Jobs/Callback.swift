/// A delivery of a callback that is this sender's until its term ends.
package struct Callback: Sendable {
    package let id: String
    /// Every call about it shows this.
    package let token: String
    /// Which try this is, from 1.
    package let attempt: Int
    package let subject: Subject
    /// `job.completed`, `job.failed`, `job.cancelled` or `group.finished`.
    package let what: String
    package let url: String
    /// When what it tells of ended, in milliseconds since 1970.
    package let at: Int64
    /// When this try was taken to be sent, in milliseconds since 1970.
    package let takenAt: Int64
    let content: Content

    /// What a callback tells of.
    package enum Subject: Sendable, Hashable {
        case job(String)
        case group(String)
    }

    /// What was to be told when the job or the group ended.
    enum Content: Sendable {
        case job(JobRecord)
        case group(GroupRecord)
        /// Of what cannot be read any more.
        case unknown
    }
}

/// What a sender says of one try of a callback.
package enum CallbackOutcome: Sendable, Hashable {
    case delivered(status: Int)
    /// Another try may succeed.
    case again(String, status: Int?, retryAfter: Double?)
    /// No try will.
    case refused(String, status: Int?)
}

/// What became of a callback whose try ended.
package enum FinishCallbackAnswer: Sendable, Hashable {
    case delivered, failed
    /// It is retried at that time, in milliseconds since 1970.
    case waiting(until: Int64)
    /// It is no longer this sender's; nothing was changed.
    case stale
}

/// What became of a wish to send a callback once more.
package enum RedeliverAnswer: String, Sendable {
    case due, sending, unknown
    /// What is to be told was never kept.
    case lost
}
